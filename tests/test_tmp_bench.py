import asyncio, time, logging, structlog
from contextlib import AsyncExitStack
from tests.support.service import running_service
from tests.support.client import connect, request_for, user, assistant
from conversation_service.app.indexer import Indexer
async def one(url, n=20):
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    async with running_service(url) as s, connect(s.address) as c:
        sids=[await c.new_session() for _ in range(64)]
        async def w(sid):
            for i in range(n):
                await c.call('AppendFloor', session_id=sid, input=[user('the quick brown fox jumps over '+str(i))], output=[assistant('and the lazy dog says something of medium length in reply '*5)])
        await w(sids[0])
        b=time.perf_counter()
        await asyncio.gather(*map(w, sids))
        d=time.perf_counter()-b
        i0=time.perf_counter()
        await s.service.following.indexer.caught_up()
        return 64*n/d, time.perf_counter()-i0
import pytest
@pytest.mark.parametrize('which',['off','on','off2','on2'])
async def test_b(engine_url, which, monkeypatch):
    if which.startswith('off'):
        async def wait(self): await asyncio.Event().wait()
        monkeypatch.setattr(Indexer,'run',wait)
    r=await one(engine_url)
    print('\nRESULT', engine_url[:8], which, 'appends/s %.0f, caught up after %.2f s' % r)

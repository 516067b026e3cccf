from draft_service.process import run

run()

from conversation_service.process import run

run()

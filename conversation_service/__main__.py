from conversation_service.main import run

run()

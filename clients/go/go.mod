module stemma.example/client

go 1.19

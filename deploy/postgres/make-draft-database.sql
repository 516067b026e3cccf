-- Beside the conversation service's database: neither service may reach the other's tables.
CREATE DATABASE draft;

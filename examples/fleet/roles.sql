-- Roles for a fleet in the schema 'entia'. Run it as the owner of the tables, after the first worker has made them.

-- Workers: they drive worlds, and need no right to make or change tables.
CREATE ROLE entia_worker LOGIN PASSWORD 'change me';
GRANT USAGE ON SCHEMA entia TO entia_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA entia TO entia_worker;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA entia TO entia_worker;

-- Programs that speak to worlds, such as a web server: they post letters, read, and drive nothing.
CREATE ROLE entia_front LOGIN PASSWORD 'change me';
GRANT USAGE ON SCHEMA entia TO entia_front;
GRANT SELECT ON ALL TABLES IN SCHEMA entia TO entia_front;
GRANT INSERT ON entia.mail TO entia_front;
GRANT INSERT, UPDATE ON entia.senders, entia.watches TO entia_front;
GRANT EXECUTE ON FUNCTION entia.place_world TO entia_front;

-- minimum: 12
-- A refresh token was used when its family is of a later generation: a rotation writes
-- the family's row and the new tokens, and nothing else. The answer that may be repeated
-- is that of the last rotation. When a family expires, its last token says.
ALTER TABLE partnerkit_refresh_token DROP COLUMN used_at;
ALTER TABLE partnerkit_refresh_token DROP COLUMN answer;
ALTER TABLE partnerkit_refresh_token DROP COLUMN answer_scopes;
ALTER TABLE partnerkit_family DROP COLUMN expires_at;
ALTER TABLE partnerkit_family ADD COLUMN answer BYTEA;
ALTER TABLE partnerkit_family ADD COLUMN answer_scopes TEXT;
ALTER TABLE partnerkit_family ADD COLUMN answered_at BIGINT;

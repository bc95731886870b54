-- minimum: 1
-- The log of what is about no app, by the organization that it was done for.
CREATE INDEX pk_audit_organization ON partnerkit_audit (target, (id || '')) WHERE app_id = '';

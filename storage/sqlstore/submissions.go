package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console/consolestore"
)

// Submissions implements consolestore.Store.
func (s *Store) Submissions(ctx context.Context, appIDs ...string) (map[string]consolestore.Submission, error) {
	submissions := make(map[string]consolestore.Submission)
	err := eachIn(ctx, s, s.sql.of(`SELECT id, app_id, state, note, reviewer_id, submitted_at, updated_at, app_name, app_redirect_uris, app_scopes, app_app_url
		FROM partnerkit_submission WHERE app_id IN`), appIDs, func(scan func(...any) error) error {
		var one consolestore.Submission
		var app profileRow
		var submitted, updated int64
		err := scan(append([]any{&one.ID, &one.AppID, &one.State, &one.Note, &one.ReviewerID, &submitted, &updated}, app.dest()...)...)
		if err != nil {
			return err
		}
		one.SubmittedAt, one.UpdatedAt = fromMS(submitted), fromMS(updated)
		if one.App, err = app.value(); err != nil {
			return err
		}
		submissions[one.AppID] = one
		return nil
	})
	return submissions, wrap("submissions", err)
}

// SaveSubmission implements consolestore.Store.
func (s *Store) SaveSubmission(ctx context.Context, one consolestore.Submission) error {
	values := []any{one.ID, one.AppID, string(one.State), one.Note, one.ReviewerID, ms(one.SubmittedAt), ms(one.UpdatedAt)}
	_, err := s.exec(ctx, `INSERT INTO partnerkit_submission
			(id, app_id, state, note, reviewer_id, submitted_at, updated_at, app_name, app_redirect_uris, app_scopes, app_app_url)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (app_id) DO UPDATE SET id = excluded.id, state = excluded.state, note = excluded.note, reviewer_id = excluded.reviewer_id,
			submitted_at = excluded.submitted_at, updated_at = excluded.updated_at, app_name = excluded.app_name,
			app_redirect_uris = excluded.app_redirect_uris, app_scopes = excluded.app_scopes, app_app_url = excluded.app_app_url`,
		append(values, profileValues(one.App)...)...)
	return wrap("save submission", err)
}

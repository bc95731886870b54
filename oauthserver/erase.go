package oauthserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// eraseBatch is how many records a part of an erasure reads at most.
const eraseBatch = 2000

// EraseUser ends the consents and the tokens of a user and removes the user's id from
// everything that is kept. Records that stay, such as audit entries, name [partner.ErasedUser]
// instead; the records of different erased users cannot be distinguished. Installations
// stay, since they belong to the business.
//
// The tokens are dead before anything else happens. The rest happens in many short
// transactions. After an error the user is suspended until EraseUser is called again, which
// completes the erasure; the returned Erasure counts what was done. Erasing a user a second
// time changes nothing and is not an error.
//
// The host ends the user's sessions first and no longer reports the user as a member of a
// business. Otherwise the user can consent again, and new records have the id.
func (s *Server) EraseUser(ctx context.Context, userID string) (partner.Erasure, error) {
	var total partner.Erasure
	if userID == "" || userID == partner.ErasedUser || !text.IsStorable(userID) {
		return total, errors.New("erase user: invalid user id")
	}
	for part := (oauthstore.EraseUser{UserID: userID, Now: s.cfg.Clock.Now(), Limit: eraseBatch}); ; {
		done, err := s.cfg.Store.EraseUser(ctx, part)
		if err != nil {
			return total, fmt.Errorf("erase user: %w", err)
		}
		total.Add(done.Erasure)
		if done.Next == "" {
			return total, nil
		}
		part.After = done.Next
	}
}

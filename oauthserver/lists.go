package oauthserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// The sizes of pages.
const (
	defaultPage = 100
	maxPage     = 1000
)

// AppPage is a page of apps.
type AppPage struct {
	Apps []partner.App
	Next string // the Before of the next page; empty: this is the last page
}

// Apps returns a page of apps, newest first, for pages of the platform's staff. A Limit of 0
// means 100, and more than 1,000 means 1,000.
func (s *Server) Apps(ctx context.Context, q partner.AppQuery) (AppPage, error) {
	limit, err := pageLimit(q.Before, q.Limit)
	if err != nil {
		return AppPage{}, fmt.Errorf("apps: %w", err)
	}
	q.Limit = limit + 1
	apps, err := s.cfg.Store.Apps(ctx, q)
	if err != nil || len(apps) <= limit {
		return AppPage{Apps: apps}, err
	}
	return AppPage{Apps: apps[:limit], Next: apps[limit-1].ID}, nil
}

// InstallationPage is a page of installations.
type InstallationPage struct {
	Installations []partner.Installation
	Next          string // the After of the next page; empty: this is the last page
}

// Installations returns a page of the ACTIVE installations of an app, of a business, or of
// all, oldest first. A Limit of 0 means 100, and more than 1,000 means 1,000.
func (s *Server) Installations(ctx context.Context, q partner.InstallationQuery) (InstallationPage, error) {
	limit, err := pageLimit(q.After, q.Limit)
	if err != nil {
		return InstallationPage{}, fmt.Errorf("installations: %w", err)
	}
	q.Limit = limit + 1
	all, err := s.cfg.Store.Installations(ctx, q)
	if err != nil || len(all) <= limit {
		return InstallationPage{Installations: all}, err
	}
	return InstallationPage{Installations: all[:limit], Next: all[limit-1].ID}, nil
}

// pageLimit returns how many entries a page has; it is an error if the cursor cannot be one.
func pageLimit(cursor string, limit int) (int, error) {
	switch {
	case !text.IsStorable(cursor):
		return 0, errors.New("the cursor must be the Next of a page")
	case limit < 0:
		return 0, errors.New("the limit is negative")
	case limit == 0:
		return defaultPage, nil
	}
	return min(limit, maxPage), nil
}

package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

const ofConsole = "console"

// listing returns the app, not reviewed, with an icon and a screenshot.
func (s *Scene) listing(t testing.TB) *listingFixture {
	t.Helper()
	if s.listed == nil {
		f := &listingFixture{oauthFixture: s.oauthFixture}
		f.unreviewed(t)
		f.icon, f.screenshot = f.asset(consolestore.AssetIcon, noon), f.asset(consolestore.AssetScreenshot, noon.Add(time.Second))
		f.icon.ID, f.screenshot.ID = s.shared("ast_icon"), s.shared("ast_screenshot")
		f.addAssets(t)
		s.listed = f
	}
	return s.listed
}

// draft returns a revision with a slug of its own.
func (s *Scene) draft(t testing.TB, slug string) consolestore.Revision {
	t.Helper()
	r := s.listing(t).draft(s.id(slug))
	r.ID = s.id("rev_" + slug)
	return r
}

// inReview makes a draft the latest revision and begins its review.
func (s *Scene) inReview(t testing.TB, r consolestore.Revision) {
	t.Helper()
	r.State = consolestore.RevisionInReview
	s.listing(t).take(t, next(r))
}

// steps is an operation that takes a step of the listing.
func (s *Scene) steps(take step, check func(t testing.TB, happened bool)) Act {
	return Act{
		Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
			_, err := on.ChangeListing(ctx, s.app.ID, take)
			return answered(err, errStep)
		},
		Check: check,
	}
}

// extension returns the extension that all operations of the scene use.
func (s *Scene) extension(t testing.TB) consolestore.Extension {
	t.Helper()
	x := s.listing(t).extension(noon)
	x.ID = s.shared("ext")
	s.once(x.ID, func() { must(t, addExtension(t.Context(), s, x, mayExtend)) })
	return x
}

func (s *Scene) extensionIs(t testing.TB, id string) (consolestore.Extension, bool) {
	t.Helper()
	got, err := oneExtension(s)(t.Context(), s.app.ID, id)
	if !errors.Is(err, partner.ErrNotFound) {
		must(t, err)
	}
	return got, err == nil
}

func (s *Scene) hasFunction(t testing.TB, id string) bool {
	t.Helper()
	all := get[[]consolestore.Function](t)(s.Functions(t.Context(), s.app.ID))
	return slices.ContainsFunc(all, func(f consolestore.Function) bool { return f.ID == id })
}

// wantSlugs counts the slugs of the app, if the store can be looked into.
func (s *Scene) wantSlugs(t testing.TB, want int) {
	t.Helper()
	if e, ok := s.Store.(*Env); ok && e.slugs(t, s.app.ID) != want {
		t.Errorf("%d slugs, want %d", e.slugs(t, s.app.ID), want)
	}
}

// changeLocked changes the app as the console does: it locks the app, compares it, and
// writes its audit entry in the same transaction.
func (s *Scene) changeLocked(ctx context.Context, on partnerkit.Store, entry audit.Entry, change func(ctx context.Context, app partner.App) error) (Answer, error) {
	return answered(on.Transact(ctx, func(ctx context.Context) error {
		app, err := on.LockApp(ctx, s.app.ID)
		if err != nil {
			return err
		}
		if app.Status == partner.AppDeactivated {
			return oauthstore.ErrDeactivated
		}
		if err := change(ctx, app); err != nil {
			return err
		}
		return on.RecordAudit(ctx, entry)
	}), oauthstore.ErrDeactivated, errStep)
}

func (s *Scene) wantEntry(t testing.TB, entry audit.Entry, want bool) {
	t.Helper()
	log := get[[]audit.Entry](t)(s.Audit(t.Context(), audit.Query{AppID: s.app.ID, Limit: 10}))
	if slices.ContainsFunc(log, func(e audit.Entry) bool { return e.ID == entry.ID }) != want {
		t.Errorf("%d audit entries, want that of the operation: %v", len(log), want)
	}
}

// updates is an operation that changes the app alone.
func (s *Scene) updates(change func(partner.App) partner.App, hasHappened func(partner.App) bool) Act {
	return Act{
		Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
			_, err := on.UpdateApp(ctx, s.app.ID, func(a partner.App) (partner.App, error) { return change(a), nil })
			return answered(err, oauthstore.ErrDeactivated)
		},
		Check: func(t testing.TB, happened bool) {
			if app := get[partner.App](t)(s.App(t.Context(), s.app.ID)); hasHappened(app) != happened {
				t.Errorf("happened %v: %+v", happened, app)
			}
		},
	}
}

// consoleOperations are what developers and reviewers change about an app.
var consoleOperations = slices.Concat(appOperations, listingOperations, itemOperations, accountOperations)

var appOperations = []Operation{
	{Name: "Change an app", Of: ofConsole, Prepare: func(_ testing.TB, s *Scene) Act {
		name := s.id("renamed")
		return s.updates(
			func(a partner.App) partner.App { a.Name += " " + name; return a },
			func(a partner.App) bool { return a.Name == "App "+name })
	}},
	{Name: "Narrow an app", Of: ofConsole, Prepare: func(_ testing.TB, s *Scene) Act {
		narrow := identity.MustScopes("events:read")
		return s.updates(
			func(a partner.App) partner.App { a.Scopes = narrow; return a },
			func(a partner.App) bool { return a.Scopes.String() == narrow.String() })
	}},
	// CON-13.
	{Name: "Deactivate an app", Of: ofConsole, Prepare: func(_ testing.TB, s *Scene) Act {
		return s.updates(
			func(a partner.App) partner.App { a.Status = partner.AppDeactivated; return a },
			func(a partner.App) bool { return a.Status == partner.AppDeactivated })
	}},
	{Name: "Lock and change an app", Of: ofConsole, Prepare: func(_ testing.TB, s *Scene) Act {
		entry, name := s.entry(audited.AppUpdated, noon), s.id("changed")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return s.changeLocked(ctx, on, entry, func(ctx context.Context, locked partner.App) error {
					_, err := on.UpdateApp(ctx, s.app.ID, func(a partner.App) (partner.App, error) {
						a.Name = locked.Name + " " + name
						return a, nil
					})
					return err
				})
			},
			Check: func(t testing.TB, happened bool) {
				if app := get[partner.App](t)(s.App(t.Context(), s.app.ID)); (app.Name == "App "+name) != happened {
					t.Errorf("happened %v: %q", happened, app.Name)
				}
				s.wantEntry(t, entry, happened)
			},
		}
	}},
	{Name: "Submit an app", Of: ofConsole, Prepare: func(_ testing.TB, s *Scene) Act {
		entry := s.entry(audited.AppUpdated, noon)
		submission := consolestore.Submission{ID: s.id("sub"), AppID: s.app.ID, State: consolestore.RevisionSubmitted, SubmittedAt: noon, UpdatedAt: noon}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return s.changeLocked(ctx, on, entry, func(ctx context.Context, locked partner.App) error {
					before, err := on.Submissions(ctx, s.app.ID)
					if err != nil {
						return err
					}
					if before[s.app.ID].State == consolestore.RevisionSubmitted {
						return errStep
					}
					submission := submission
					submission.App = locked.Profile()
					return on.SaveSubmission(ctx, submission)
				})
			},
			Check: func(t testing.TB, happened bool) {
				got, ok := get[map[string]consolestore.Submission](t)(s.Submissions(t.Context(), s.app.ID))[s.app.ID]
				if ok != happened || ok && (got.ID != submission.ID || got.App.Name != "App") {
					t.Errorf("happened %v: %+v", happened, got)
				}
				s.wantEntry(t, entry, happened)
			},
		}
	}},
	{Name: "Review an app", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f, entry := s.listing(t), s.entry(audited.AppUpdated, noon)
		id := s.shared("sub")
		s.once(id, func() {
			submitted := f.submission(consolestore.RevisionSubmitted, noon)
			submitted.ID, submitted.App.Name = id, "As submitted"
			must(t, s.SaveSubmission(t.Context(), submitted))
		})
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return s.changeLocked(ctx, on, entry, func(ctx context.Context, _ partner.App) error {
					all, err := on.Submissions(ctx, s.app.ID)
					if err != nil {
						return err
					}
					one := all[s.app.ID]
					if one.State != consolestore.RevisionSubmitted {
						return errStep
					}
					one.State, one.UpdatedAt = consolestore.RevisionApproved, noon.Add(time.Second)
					if err := on.SaveSubmission(ctx, one); err != nil {
						return err
					}
					_, err = on.UpdateApp(ctx, s.app.ID, func(a partner.App) (partner.App, error) {
						a.Reviewed, a.ReviewedAs = true, one.App
						return a, nil
					})
					return err
				})
			},
			Check: func(t testing.TB, happened bool) {
				app := get[partner.App](t)(s.App(t.Context(), s.app.ID))
				got := get[map[string]consolestore.Submission](t)(s.Submissions(t.Context(), s.app.ID))[s.app.ID]
				if app.Reviewed != happened || (app.ReviewedAs.Name == "As submitted") != happened || (got.State == consolestore.RevisionApproved) != happened {
					t.Errorf("happened %v: %+v, %+v", happened, app, got)
				}
				s.wantEntry(t, entry, happened)
			},
		}
	}},
	{Name: "Add a secret", Of: ofConsole, Prepare: func(_ testing.TB, s *Scene) Act {
		added := s.secret()
		added.ID = s.id("sec")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(addSecret(ctx, on, added), oauthstore.ErrTooManySecrets)
			},
			Check: func(t testing.TB, happened bool) { s.wantSecond(t, happened) },
		}
	}},
	{Name: "End a secret", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		added := s.secret()
		added.ID = s.shared("sec_second")
		s.once(added.ID, func() { must(t, addSecret(t.Context(), s, added)) })
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(endSecret(ctx, on, s.app.ID, added.ID), partner.ErrNotFound, errLastSecret)
			},
			Check: func(t testing.TB, happened bool) { s.wantSecond(t, !happened) },
		}
	}},
}

var listingOperations = []Operation{
	{Name: "First save", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t)
		return s.steps(f.first(s.draft(t, "first")), func(t testing.TB, happened bool) {
			if f.hasListing(t) != happened {
				t.Errorf("happened %v: listing %v", happened, f.hasListing(t))
			}
			if happened {
				s.wantSlugs(t, 1)
			} else {
				s.wantSlugs(t, 0)
			}
		})
	}},
	{Name: "Another revision", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t)
		s.inReview(t, s.draft(t, "live"))
		before := f.take(t, move(consolestore.RevisionInReview, consolestore.RevisionApproved))
		r := s.draft(t, "another")
		return s.steps(next(r), func(t testing.TB, happened bool) {
			want, slugs := before, 1
			if happened {
				want.Revision, slugs = r, 2
				want.Version++
			}
			if diff := cmp.Diff(want, f.listing(t)); diff != "" {
				t.Errorf("happened %v: (-want +got)\n%s", happened, diff)
			}
			s.wantSlugs(t, slugs)
		})
	}},
	{Name: "First approval", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t)
		s.inReview(t, s.draft(t, "approved"))
		return s.steps(move(consolestore.RevisionInReview, consolestore.RevisionApproved), func(t testing.TB, happened bool) {
			got := f.listing(t)
			if (got.Live != nil) != happened || (got.Revision.State == consolestore.RevisionApproved) != happened {
				t.Errorf("happened %v: %+v", happened, got)
			}
		})
	}},
	{Name: "Second approval", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t)
		s.inReview(t, s.draft(t, "before"))
		f.take(t, move(consolestore.RevisionInReview, consolestore.RevisionApproved))
		r := s.draft(t, "after")
		s.inReview(t, r)
		return s.steps(move(consolestore.RevisionInReview, consolestore.RevisionApproved), func(t testing.TB, happened bool) {
			if got := f.listing(t); (got.Live.ID == r.ID) != happened {
				t.Errorf("happened %v: %+v", happened, got)
			}
			if happened {
				s.wantSlugs(t, 1)
			} else {
				s.wantSlugs(t, 2)
			}
		})
	}},
	// CON-03.
	{Name: "Rejection", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t)
		s.inReview(t, s.draft(t, "rejected"))
		return s.steps(move(consolestore.RevisionInReview, consolestore.RevisionRejected), func(t testing.TB, happened bool) {
			if got := f.listing(t); got.Live != nil || (got.Revision.State == consolestore.RevisionRejected) != happened {
				t.Errorf("happened %v: %+v", happened, got)
			}
		})
	}},
}

var itemOperations = []Operation{
	{Name: "Add an asset", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t)
		a := f.asset(consolestore.AssetIcon, noon)
		a.ID = s.id("ast")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.AddAsset(ctx, withData(a, []byte("x")), maxItems-1), consolestore.ErrFull)
			},
			Check: func(t testing.TB, happened bool) { wantThere(t, f.hasAsset(t, a.ID), happened) },
		}
	}},
	// CON-04.
	{Name: "Delete an asset", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.DeleteAsset(ctx, f.app.ID, f.icon.ID), consolestore.ErrAssetInUse, partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) { wantThere(t, f.hasAsset(t, f.icon.ID), !happened) },
		}
	}},
	{Name: "Add an extension", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		x := s.listing(t).extension(noon)
		x.ID = s.id("ext")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(addExtension(ctx, on, x, mayExtend), consolestore.ErrFull, errStep)
			},
			Check: func(t testing.TB, happened bool) {
				_, isThere := s.extensionIs(t, x.ID)
				wantThere(t, isThere, happened)
			},
		}
	}},
	{Name: "Change an extension", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		x, label := s.extension(t), s.id("New")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(updateExtension(ctx, on, s.app.ID, x.ID, func(app partner.App, x consolestore.Extension) (consolestore.Extension, error) {
					x.Label += label
					return x, mayExtend(app)
				}), partner.ErrNotFound, errStep)
			},
			Check: func(t testing.TB, happened bool) {
				if got, _ := s.extensionIs(t, x.ID); (got.Label == x.Label+label) != happened {
					t.Errorf("happened %v: %q", happened, got.Label)
				}
			},
		}
	}},
	{Name: "Delete an extension", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		x := s.extension(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(deleteExtension(ctx, on, s.app.ID, x.ID), partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) {
				_, isThere := s.extensionIs(t, x.ID)
				wantThere(t, isThere, !happened)
			},
		}
	}},
	{Name: "Add a function", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t).function(noon)
		f.ID = s.id("fn")
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(addFunction(ctx, on, f), consolestore.ErrFull)
			},
			Check: func(t testing.TB, happened bool) { wantThere(t, s.hasFunction(t, f.ID), happened) },
		}
	}},
	{Name: "Delete a function", Of: ofConsole, Prepare: func(t testing.TB, s *Scene) Act {
		f := s.listing(t).function(noon)
		f.ID = s.shared("fn")
		s.once(f.ID, func() { must(t, addFunction(t.Context(), s, f)) })
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(deleteFunction(ctx, on, s.app.ID, f.ID), partner.ErrNotFound)
			},
			Check: func(t testing.TB, happened bool) { wantThere(t, s.hasFunction(t, f.ID), !happened) },
		}
	}},
}

// accountOperations belong to no app's scene.
var accountOperations = []Operation{
	{Name: "Record an audit entry", Of: ofConsole, IsAlone: true, Prepare: func(_ testing.TB, s *Scene) Act {
		entry := auditEntry(s.app.ID, noon)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.RecordAudit(ctx, entry))
			},
			Check: func(t testing.TB, happened bool) { s.wantEntry(t, entry, happened) },
		}
	}},
	{Name: "Create a console token", Of: ofConsole, IsAlone: true, Prepare: func(_ testing.TB, s *Scene) Act {
		token := newConsoleToken(s.id("org"), noon)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.CreateConsoleToken(ctx, token, 1))
			},
			Check: func(t testing.TB, happened bool) {
				if n := len(get[[]consolestore.Token](t)(s.ConsoleTokens(t.Context(), token.OrganizationID))); (n == 1) != happened {
					t.Errorf("happened %v: %d tokens", happened, n)
				}
			},
		}
	}},
	{Name: "Revoke a console token", Of: ofConsole, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		token := newConsoleToken(s.id("org"), noon)
		must(t, s.CreateConsoleToken(t.Context(), token, 1))
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := on.RevokeConsoleToken(ctx, token.OrganizationID, token.ID, noon)
				return answered(err)
			},
			Check: func(t testing.TB, happened bool) {
				if got := get[consolestore.Token](t)(s.ConsoleToken(t.Context(), token.Digest)); got.RevokedAt.IsZero() == happened {
					t.Errorf("happened %v: revoked at %v", happened, got.RevokedAt)
				}
			},
		}
	}},
}

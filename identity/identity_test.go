package identity_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
)

func TestPrincipalInContext(t *testing.T) {
	t.Parallel()
	if p, ok := identity.PrincipalFrom(t.Context()); ok {
		t.Errorf("an empty context has principal %+v", p)
	}
	want := identity.Principal{
		AppID: "app_1", ClientID: "cli_1", InstallationID: "inst_1", BusinessID: "biz_1", UserID: "usr_1",
		Scopes: identity.MustScopes("invoices:read"), Version: "2026-09-01", SignIn: identity.SignInOAuth,
	}
	ctx := identity.WithPrincipal(t.Context(), want)
	got, ok := identity.PrincipalFrom(context.WithoutCancel(ctx))
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("principal %t (-want +got):\n%s", ok, diff)
	}
	if s, ok := identity.SessionFrom(ctx); ok {
		t.Errorf("a principal is no session: %+v", s)
	}
}

func TestSessionInContext(t *testing.T) {
	t.Parallel()
	if s, ok := identity.SessionFrom(t.Context()); ok {
		t.Errorf("an empty context has session %+v", s)
	}
	want := identity.Session{ID: "ses_1", UserID: "usr_1", BusinessID: "biz_1", SignedInAt: time.Unix(1, 0)}
	ctx := identity.WithSession(t.Context(), want)
	if got, ok := identity.SessionFrom(ctx); !ok || got != want {
		t.Errorf("session %+v, %t", got, ok)
	}
	if p, ok := identity.PrincipalFrom(ctx); ok {
		t.Errorf("a session is no principal: %+v", p)
	}
}

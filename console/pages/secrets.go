package pages

import (
	"slices"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

func secretRoutes() []route {
	return []route{
		{"GET", "/apps/{appId}/secrets", (*visit).showSecrets},
		{"POST", "/apps/{appId}/secrets", (*visit).addSecret},
		{"POST", "/apps/{appId}/secrets/{secretId}/end", (*visit).endSecret},
	}
}

const secretsTitle = "Credentials"

type secretsView struct {
	App      partner.App
	ReadOnly bool
	HasKeys  bool             // it authenticates with a key of its own
	Secrets  []console.Secret // newest first
	Valid    int              // of them
	MayAdd   bool
	MayEnd   bool // one of them: the last valid one stays
	Most     int  // that may be valid
}

func (v *visit) secrets() (secretsView, error) {
	all, err := v.cfg.Console.Secrets(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return secretsView{}, err
	}
	slices.Reverse(all)
	view := secretsView{App: v.app, ReadOnly: v.isReadOnly(), HasKeys: oauthserver.HasKeys(v.app), Secrets: all, Most: partner.MaxClientSecrets}
	for _, secret := range all {
		if secret.EndedAt.IsZero() {
			view.Valid++
		}
	}
	view.MayAdd = !view.ReadOnly && view.Valid < view.Most
	view.MayEnd = !view.ReadOnly && view.Valid > 1
	return view, nil
}

func (v *visit) showSecrets() error {
	view, err := v.secrets()
	if err != nil {
		return err
	}
	return v.show("secrets", secretsTitle, view)
}

// secretsAgain shows the list with the reason why something was refused.
func (v *visit) secretsAgain(refused error) error {
	view, err := v.secrets()
	if err != nil {
		return err
	}
	return v.again(refused, "secrets", secretsTitle, view)
}

// addSecret makes a client secret and shows it, this once.
func (v *visit) addSecret() error {
	text, _, err := v.cfg.Console.AddSecret(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return v.secretsAgain(err)
	}
	return v.show("secret_created", "The new client secret", createdView{App: v.app, Secret: text})
}

func (v *visit) endSecret() error {
	if err := v.cfg.Console.EndSecret(v.r.Context(), v.by, v.app.ID, v.r.PathValue("secretId")); err != nil {
		return v.secretsAgain(err)
	}
	return v.to(path("apps", v.app.ID, "secrets"), "secret-ended")
}

package sandbox

import (
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// META-08, CIMD-04: -agents turns every option on.
func TestAdmitAgents(t *testing.T) {
	t.Parallel()
	var cfg oauthserver.Options
	admitAgents(&cfg)
	if !cfg.IssuerParameter || !cfg.PrivateKeyJWT || !cfg.HideInternalScopes || !cfg.RegisteredScopesAsDefault || !cfg.OptionalScope || cfg.LoopbackPorts != oauthserver.LoopbackPortsAll || len(cfg.PrivateUseSchemes) != 3 {
		t.Errorf("%+v", cfg)
	}
}

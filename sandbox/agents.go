package sandbox

import "github.com/partnerkit/partnerkit/oauthserver"

// admitAgents turns on what the clients of AI agents expect beyond the standard behaviour.
func admitAgents(cfg *oauthserver.Options) {
	cfg.IssuerParameter = true
	cfg.PrivateKeyJWT = true
	cfg.HideInternalScopes = true
	cfg.LoopbackPorts = oauthserver.LoopbackPortsAll
	cfg.RegisteredScopesAsDefault = true
	cfg.OptionalScope = true
	cfg.PrivateUseSchemes = []string{"cursor", "vscode", "vscode-insiders"}
}

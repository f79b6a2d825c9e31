package main

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/agentsocket"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/oidc"
)

func newServeCommand(a *app) *cobra.Command {
	var k connect.Kubeconfig
	var f server.Foreground
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API of a cluster",
		Long: `Serve the HTTP API of a cluster until you interrupt the command (Ctrl-C). It reports the state of
the cluster and follows upgrades also while the API server is unreachable, with the last known state
and its age.

The command prints a URL with a one-time code, which signs in with the permissions of your
kubeconfig. Other users sign in with a token of the cluster, or with OpenID Connect, and have their
own permissions. There is no code if the command listens on an address that other hosts reach.

The connection uses TLS with a certificate that stays the same. Compare its fingerprint with the one
that the command prints, or set --tls-cert and --tls-key.`,
		Example: a.example(
			"# Serve the cluster of the current context", "serve",
			"# Serve it for other hosts, with a certificate of your own",
			"serve --listen 0.0.0.0:8443 --allowed-host refit.example.com --tls-cert tls.crt --tls-key tls.key",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.Check(); err != nil {
				return exit.UsageError{Err: err}
			}
			config, name, err := k.Load()
			if err != nil {
				return err
			}
			f.Version = versionOf().Version
			servers, err := operations.NewAPIServers(config)
			if err != nil {
				return err
			}
			objects, err := a.client(config)
			if err != nil {
				return err
			}
			cluster := a.operations(objects, name)
			cluster.APIServers = servers
			log := slog.New(slog.NewTextHandler(a.Err, nil))
			return f.Serve(cmd.Context(), cluster, config, log, func(started server.Started) {
				fmt.Fprint(a.Out, text.Serving(text.Server(started)))
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.Listen, "listen", server.DefaultListen, "the `ADDRESS` to listen on")
	flags.StringArrayVar(&f.AllowedHosts, "allowed-host", nil, "a `HOST` that browsers use for this server, beside that of --listen; can be repeated")
	flags.StringVar(&f.Certificate, "tls-cert", "", "the `FILE` of the certificate; it is loaded again when it changes")
	flags.StringVar(&f.Key, "tls-key", "", "the `FILE` of the key of the certificate")
	flags.StringVar(&f.Directory, "state-dir", "",
		"the `DIRECTORY` of the certificate, the audit log and the last known state (default one for each cluster in ~/.local/state/refit/serve)")
	flags.StringVar(&f.AgentSocket, "agent-socket", agentsocket.Path, "the socket `FILE` of the agent on this host, which explains outages of the API server")
	flags.StringVar(&f.Issuer.Issuer, "oidc-issuer-url", "", "the `URL` of the OpenID Connect issuer that signs people in, as kube-apiserver has it")
	flags.StringVar(&f.Issuer.ClientID, "oidc-client-id", "", "the `ID` of the client at the issuer, as kube-apiserver has it")
	flags.StringVar(&f.Issuer.SecretFile, "oidc-client-secret-file", "", "the `FILE` with the secret of the client; without it, the client is public")
	flags.StringVar(&f.Issuer.CAFile, "oidc-ca-file", "", "the `FILE` with the certificates of the issuer's certificate authority (default those of this host)")
	flags.StringSliceVar(&f.Issuer.Scopes, "oidc-scope", oidc.DefaultScopes, "a `SCOPE` to request beside openid; can be repeated")
	addKubeconfigFlags(cmd, &k)
	flags.SortFlags = false
	return cmd
}

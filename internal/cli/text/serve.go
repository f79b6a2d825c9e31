package text

import "strings"

// Server is a server that has started.
type Server struct {
	Cluster, URL, Code, Fingerprint, Directory string
}

// Serving renders how to reach a server, and how to sign in. The code is in the fragment of the
// URL, which browsers do not send.
func Serving(s Server) string {
	var out strings.Builder
	out.WriteString("Serving " + s.Cluster + " at " + s.URL)
	if s.Code != "" {
		out.WriteString("#code=" + s.Code + "\n\nThe code signs in once, within 10 minutes, with the permissions of your kubeconfig.")
	}
	out.WriteString("\nCertificate: SHA-256 " + s.Fingerprint + "\nState:       " + s.Directory + "\n\nPress Ctrl-C to stop the server.\n")
	return out.String()
}

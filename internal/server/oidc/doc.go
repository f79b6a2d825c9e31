// Package oidc signs people in at an OpenID Connect issuer that the API server of the cluster
// trusts, by the authorization code flow with PKCE.
//
//  1. A sign-in starts with a state, a nonce and a verifier, which the server keeps, and a secret
//     for a cookie of the browser, which it does not.
//  2. The issuer sends the browser back with the state and a code. Only the browser with the cookie
//     completes the sign-in, once and within ten minutes.
//  3. The code is exchanged for an ID token, which the API server reviews as any other token.
//  4. A refresh token renews the ID token during the session.
package oidc

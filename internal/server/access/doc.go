// Package access decides who a caller is and what the caller may do.
//
//  1. A caller has a bearer token, or the cookie of a session. A session starts with a token or a
//     one-time code.
//  2. A TokenReview finds the user of a token. A session that a one-time code started acts with
//     the credentials of the server itself: those of the person who has started it.
//  3. A SubjectAccessReview decides on each request, and is repeated soon. Writes carry the
//     caller's credentials, too: the API server decides again.
//
// While the API server is unreachable, an admitted session keeps reading. Nobody else is admitted.
package access

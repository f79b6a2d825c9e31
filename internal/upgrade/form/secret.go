package form

// The Secret in the namespace refit-components that has the answers of all components. It is one,
// so that a save is one write, and its name is fixed, so that a role can permit it alone: whoever
// may create Secrets in that namespace could create a token of refit-components.
const (
	SecretName = "refit-form"
	// AnswersKey is the key of the answers; ValuesKey is that of the values of a component.
	AnswersKey = "answers.json"
	// OwnerLabel and Owner mark Secrets with values whose changes refit-components follows.
	OwnerLabel = "owner"
	Owner      = "refit"
)

// ValuesKey returns the key of the Secret that has the values of a component.
func ValuesKey(component string) string { return component + ".yaml" }

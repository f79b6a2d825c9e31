package v1alpha1

// ComponentForm prompts the user for values of components: groups of items whose answers become
// these values. `refit serve` shows it, evaluates its conditions and writes the values.
//
// Conditions are CEL and know the answers to earlier items as values.NAME. An item that is hidden
// or has no answer is an empty text, false, or for numbers null.
//
// +kubebuilder:object:generate=false
type ComponentForm struct {
	Groups []FormGroup `json:"groups"`
}

// FormGroup is a part of a form with a title.
//
// +kubebuilder:object:generate=false
type FormGroup struct {
	// Name is the name of the group, unique in the form.
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// When hides the group unless the condition holds.
	When  string     `json:"when,omitempty"`
	Items []FormItem `json:"items"`
}

// FormItem is one question.
//
// +kubebuilder:object:generate=false
type FormItem struct {
	// Name is the name of the item, unique in the form: it identifies the answer.
	Name  string       `json:"name"`
	Title string       `json:"title"`
	Help  string       `json:"help,omitempty"`
	Type  FormItemType `json:"type"`
	// Default is the answer of a user who does not give one: a string, a number or a bool. A
	// password has none, because the form is public.
	Default any `json:"default,omitempty"`
	// Required refuses an empty answer. A switch always has one.
	Required bool `json:"required,omitempty"`
	// Pattern is a regular expression (RE2) that matches the whole text, password or number.
	Pattern string `json:"pattern,omitempty"`
	// Options are the choices of a Choice.
	Options []FormOption `json:"options,omitempty"`
	// When hides the item unless the condition holds. A hidden item sets nothing.
	When string `json:"when,omitempty"`
	// Valid must hold for an answer that is not empty. It knows the answer itself, too.
	Valid string `json:"valid,omitempty"`
	// Message is shown if the pattern does not match or Valid does not hold.
	Message string `json:"message,omitempty"`
	// Sets are the values that the answer becomes. An empty answer sets none.
	Sets []FormTarget `json:"sets,omitempty"`
}

// FormItemType is the type of the answer to an item.
type FormItemType string

// The types of items.
const (
	FormText     FormItemType = "Text"
	FormNumber   FormItemType = "Number"
	FormSwitch   FormItemType = "Switch"
	FormChoice   FormItemType = "Choice"
	FormPassword FormItemType = "Password" // a text that nobody can read again
)

// FormOption is one of the answers to a Choice.
//
// +kubebuilder:object:generate=false
type FormOption struct {
	Value string `json:"value"`
	// Title is shown in place of the value.
	Title string `json:"title,omitempty"`
}

// FormTarget is a value of a component.
//
// +kubebuilder:object:generate=false
type FormTarget struct {
	Component string `json:"component"`
	// Path is the dotted path of the value. userMay of the component has to allow it.
	Path string `json:"path"`
}

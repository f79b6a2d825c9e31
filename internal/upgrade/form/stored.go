package form

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Stored are answers as a Secret keeps them. Passwords are apart: an item of another form that has
// the name of a password, but is a text, must not show it.
type Stored struct {
	// Release is the name of the ClusterRelease whose form was filled in, and Digest identifies it.
	Release   string            `json:"release"`
	Digest    string            `json:"digest"`
	Answers   Answers           `json:"answers,omitempty"`
	Passwords map[string]string `json:"passwords,omitempty"`
}

// Store returns given answers as they are stored.
func Store(f *refitv1alpha1.ComponentForm, given Answers) Stored {
	out := Stored{Answers: Answers{}, Passwords: map[string]string{}}
	for item := range items(f) {
		answer, answered := given[item.Name]
		password, is := answer.(string)
		switch {
		case !answered:
		case item.Type != refitv1alpha1.FormPassword:
			out.Answers[item.Name] = answer
		case is && password != "":
			out.Passwords[item.Name] = password
		}
	}
	return out
}

// Encode returns stored answers as JSON.
func (s Stored) Encode() ([]byte, error) { return json.Marshal(s) }

// Decode reads stored answers. Integers stay integers. Its error contains no answer.
func Decode(content []byte) (s Stored, err error) {
	if len(content) == 0 {
		return s, nil
	}
	if err := utiljson.Unmarshal(content, &s); err != nil {
		return Stored{}, errors.New("the stored answers are not JSON")
	}
	return s, nil
}

// For returns the stored answers that are of items of a form and may be shown, and the names of the
// passwords that are stored, sorted.
func (s Stored) For(f *refitv1alpha1.ComponentForm) (answers Answers, passwords []string) {
	answers, passwords = Answers{}, []string{}
	for item := range items(f) {
		if item.Type == refitv1alpha1.FormPassword {
			if s.Passwords[item.Name] != "" {
				passwords = append(passwords, item.Name)
			}
			continue
		}
		if answer, has := s.Answers[item.Name]; has {
			answers[item.Name] = answer
		}
	}
	slices.Sort(passwords)
	return answers, passwords
}

// Complete adds the stored passwords to answers that do not have them: nobody can read a password
// again, so it stays unless another one, or an empty text, is given.
func (s Stored) Complete(f *refitv1alpha1.ComponentForm, answers Answers) Answers {
	out := maps.Clone(answers)
	if out == nil {
		out = Answers{}
	}
	for item := range items(f) {
		_, given := answers[item.Name]
		if password := s.Passwords[item.Name]; item.Type == refitv1alpha1.FormPassword && !given && password != "" {
			out[item.Name] = password
		}
	}
	return out
}

// Package skew is the arithmetic of Kubernetes' versions: which versions may stand beside each other, over which versions a
// cluster goes from one to another, and when workers must follow.
//
// The rules are those of the Kubernetes version skew policy and of etcd's upgrade guides.
package skew

import { client, dataOf } from '../api/client.ts'
import type { Change } from '../api/documents.ts'
import type { Verb } from './verbs.ts'

/** Applies a verb with the permissions of the user. Each can be repeated. */
export function applyVerb(name: string, verb: Verb): Promise<Change> {
  return dataOf(client.POST(`/api/v1alpha1/operations/{name}/${verb}`, { params: { path: { name } } }))
}

import { client, dataOf } from '../api/client.ts'
import type { Change, ClusterUpgradeSpec, PoolSpec, WaiverSpec } from '../api/documents.ts'
import { ProblemError, problemOf } from '../api/problem.ts'

export interface Changeable {
  spec: ClusterUpgradeSpec
  /** The version of the spec that a change is based on. */
  etag: string
}

/** Reads what can be changed of an upgrade, with the version that a change is based on. */
export async function readChangeable(name: string, signal: AbortSignal): Promise<Changeable> {
  const { data, error, response } = await client.GET('/api/v1alpha1/operations/{name}', { params: { path: { name } }, signal })
  if (!response.ok || data === undefined) throw new ProblemError(problemOf(response, error))
  return { spec: data.spec, etag: response.headers.get('ETag') ?? '' }
}

/** Changes an upgrade, unless somebody has changed it in the meantime. */
export function changeOperation(name: string, etag: string, patch: { waivers: WaiverSpec[] } | { pools: PoolSpec[] }): Promise<Change> {
  return dataOf(client.PATCH('/api/v1alpha1/operations/{name}', {
    params: { path: { name }, header: { 'If-Match': etag } }, body: patch, headers: { 'Content-Type': 'application/merge-patch+json' },
  }))
}

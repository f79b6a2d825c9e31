import type { Me } from '../api/documents.ts'
import type { ServeLink } from '../live/stream.ts'

/** Why a write is not possible: a key of the texts, and the permission that the user lacks. */
export interface Refusal {
  reason: 'ended' | 'aborting' | 'nothingToRetry' | 'serve' | 'api' | 'session' | 'permission' | 'unsupported'
  missing?: string | undefined
}

/** What every write depends on. */
export interface WriteSituation {
  serve: ServeLink
  apiReachable: boolean
  signedOut: boolean
  me: Me | undefined
}

/** Why the user may not send the request of a route, by its operationId. */
export function permissionRefusal(route: string, me: Me | undefined): Refusal | undefined {
  if (me === undefined) return undefined
  const permission = me.permissions.find((one) => one.operation === route)
  if (permission === undefined) return { reason: 'unsupported' }
  return permission.allowed ? undefined : { reason: 'permission', missing: permission.missing }
}

/** Why no write can reach the cluster. */
export function connectionRefusal({ serve, apiReachable, signedOut }: WriteSituation): Refusal | undefined {
  if (signedOut) return { reason: 'session' }
  if (serve.state !== 'live') return { reason: 'serve' }
  return apiReachable ? undefined : { reason: 'api' }
}

/**
 * Why the user cannot send the request of a route now, the cause that changes last first. Undefined
 * if nothing prevents it; the server decides in any case.
 */
export function refusalOfWrite(route: string, situation: WriteSituation): Refusal | undefined {
  return permissionRefusal(route, situation.me) ?? connectionRefusal(situation)
}

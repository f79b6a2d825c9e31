/** What TestPages does with the cluster when a test of the pages requests it. */
export async function change(what: 'freeze' | 'thaw' | 'stall' | 'run'): Promise<number> {
  const before = Date.now()
  const answer = await fetch(`${process.env['REFIT_CONTROL']}/${what}`, { method: 'POST' })
  if (!answer.ok) throw new Error(`${what}: ${await answer.text()}`)
  return before
}

/** A one-time code of the server. */
export async function newCode(): Promise<string> {
  return (await fetch(`${process.env['REFIT_CONTROL']}/code`, { method: 'POST' })).text()
}

/** The spec of the operation in the cluster. */
export async function spec(): Promise<{ paused?: boolean }> {
  return (await fetch(`${process.env['REFIT_CONTROL']}/spec`, { method: 'POST' })).json() as Promise<{ paused?: boolean }>
}

export const tokens = { operator: process.env['REFIT_OPERATOR'] ?? '', viewer: process.env['REFIT_VIEWER'] ?? '' }

const prefix = 'refit.bundle.'

/** The id of the last bundle about an operation, so that it is found again after a reload. Only its user can read it. */
export function keptBundle(operation: string): string {
  return sessionStorage.getItem(prefix + operation) ?? ''
}

export function keepBundle(operation: string, id: string) {
  sessionStorage.setItem(prefix + operation, id)
}

export function forgetBundle(operation: string) {
  sessionStorage.removeItem(prefix + operation)
}

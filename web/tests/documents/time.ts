/** The time so many seconds ago. */
export function ago(seconds: number): string {
  return new Date(Date.now() - seconds * 1000).toISOString()
}

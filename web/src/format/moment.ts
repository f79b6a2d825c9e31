/** Formats a time in UTC to the second, as the CLI does, so that it matches the logs of hosts. */
export function moment(time: string): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ') + ' UTC'
}

/** A time to the minute, for lists of what is long past. */
export function minuteOf(time: string): string {
  return moment(time).slice(0, 16)
}

/** The time of day in UTC. */
export function timeOfDay(time: string): string {
  return new Date(time).toISOString().slice(11, 19) + ' UTC'
}

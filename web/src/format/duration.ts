const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Formats a duration in one unit, or in two where one is too coarse, as the CLI does. */
export function duration(milliseconds: number): string {
  const fives = Math.round(milliseconds / (5 * second)) * 5
  if (milliseconds < 98 * second && fives !== 60) return `${Math.max(5, fives)} s`
  if (milliseconds < 90 * minute) return `${Math.round(milliseconds / minute)} min`
  if (milliseconds < 36 * hour) {
    return twoUnits(Math.round(milliseconds / (10 * minute)) * 10 * minute, hour, 'h', minute, 'min')
  }
  return twoUnits(Math.round(milliseconds / hour) * hour, day, 'd', hour, 'h')
}

function twoUnits(value: number, big: number, bigName: string, small: number, smallName: string) {
  const rest = Math.floor((value % big) / small)
  return `${Math.floor(value / big)} ${bigName}${rest > 0 ? ` ${rest} ${smallName}` : ''}`
}

/** Formats the age of data, to the second below a minute: it decides whether the data is stale. */
export function age(milliseconds: number): string {
  if (milliseconds < minute) return `${Math.max(0, Math.floor(milliseconds / second))} s`
  return duration(milliseconds)
}

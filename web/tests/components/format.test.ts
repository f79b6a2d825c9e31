import { expect, test } from 'vitest'
import { age, duration } from '../../src/format/duration.ts'
import { moment, timeOfDay } from '../../src/format/moment.ts'
import { stopwatch } from '../../src/format/stopwatch.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

// The table of internal/upgrade/phrase: pages and CLI write the same.
test.each([
  [second, '5 s'], [32 * second, '30 s'], [59 * second, '1 min'], [90 * second, '90 s'], [105 * second, '2 min'],
  [140 * second, '2 min'], [9 * minute + 20 * second, '9 min'], [89 * minute, '89 min'], [3 * hour + 21 * minute, '3 h 20 min'],
  [4 * hour, '4 h'], [35 * hour + 58 * minute, '36 h'], [7 * day + 3 * hour, '7 d 3 h'], [3 * day + 20 * minute, '3 d'],
  [100 * day - 29 * minute, '100 d'], [54 * second + 1, '55 s'], [89 * minute + 50 * second, '90 min'],
])('a duration of %i ms is %s', (milliseconds, text) => expect(duration(milliseconds)).toBe(text))

test.each([[5 * second, '0:05'], [750 * second, '12:30'], [3723 * second, '1:02:03'], [-1, '0:00']])(
  'a stopwatch at %i ms shows %s', (milliseconds, text) => expect(stopwatch(milliseconds)).toBe(text))

test('an age is exact below a minute, because it decides whether data is stale', () => {
  expect(age(11_900)).toBe('11 s')
  expect(age(-5)).toBe('0 s')
  expect(age(2 * minute)).toBe('2 min')
})

test('times are in UTC, as in the logs of hosts', () => {
  expect(moment('2026-11-15T13:00:00+01:00')).toBe('2026-11-15 12:00:00 UTC')
  expect(timeOfDay('2026-11-15T13:00:00+01:00')).toBe('12:00:00 UTC')
})

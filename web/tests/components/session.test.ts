import { expect, test, vi } from 'vitest'
import { takeCode } from '../../src/session/fragment.ts'

test('the one-time code leaves the address at once, and the rest of the address stays', () => {
  const history = { state: { idx: 0 }, replaceState: vi.fn() }
  const location = { hash: '#code=abc%2B123', pathname: '/operations/to-v1-36-3', search: '?state=Failed' }
  expect(takeCode(location as Location, history as unknown as History)).toBe('abc+123')
  expect(history.replaceState).toHaveBeenCalledWith({ idx: 0 }, '', '/operations/to-v1-36-3?state=Failed')
})

test('another fragment stays', () => {
  const history = { state: null, replaceState: vi.fn() }
  expect(takeCode({ hash: '#nodes', pathname: '/', search: '' } as Location, history as unknown as History)).toBeUndefined()
  expect(history.replaceState).not.toHaveBeenCalled()
})

import { expect, it } from 'vitest'
import { retryAfterIn } from '../../src/base/http-answer.ts'

const clock = Date.parse('Tue, 24 Nov 2026 10:00:00 GMT')

it.each([
  ['3', 3000],
  [' 1.5 ', 1500],
  ['Tue, 24 Nov 2026 10:00:30 GMT', 30_000],
  ['Tue, 24 Nov 2026 09:00:00 GMT', 0],
  // Engines read each of these as a date that is over.
  ['about 5', undefined],
  ['in 2 minutes', undefined],
  ['1e308', undefined],
  ['', undefined],
  [null, undefined],
])('parses %s as %s ms', (header, ms) => {
  expect(retryAfterIn(header, clock)).toBe(ms)
})

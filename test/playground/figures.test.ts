import { expect, it } from 'vitest'
import { duration, short } from '../../playground/src/parts/figures.ts'

it.each([
  [0, '0 ms'],
  [999.6, '1.0 s'],
  [59_949, '59.9 s'],
  [59_999, '1 min 0 s'],
  [119_600, '2 min 0 s'],
  [125_000, '2 min 5 s'],
])('formats %s ms as %s', (ms, shown) => expect(duration(ms)).toBe(shown))

it.each([
  [812, '812'],
  [999.7, '1.0k'],
  [999_949, '999.9k'],
  [999_960, '1.0M'],
])('formats %s as %s', (value, shown) => expect(short(value)).toBe(shown))

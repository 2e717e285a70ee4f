import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CodePoints } from '../../../src/providers/kit/optional/citations/code-points.ts'
import { runs } from '../../support/runs.ts'

const pieces = fc.array(
  fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00', 'x'.repeat(300), '😀'.repeat(257), `\ud83d${'y'.repeat(511)}`),
  { maxLength: 12 },
)

it('finds each code point while the text grows', () => {
  fc.assert(
    fc.property(pieces, (all) => {
      const points = new CodePoints()
      let text = ''
      for (const piece of all) {
        text += piece
        points.grow(text)
      }
      const begins = [0]
      for (const char of text) begins.push((begins.at(-1) ?? 0) + char.length)
      for (const [point, unit] of begins.entries()) expect(points.unitAt(point)).toBe(unit)
      expect(points.unitAt(begins.length)).toBeUndefined()
    }),
    { numRuns: runs(60, 1000) },
  )
})

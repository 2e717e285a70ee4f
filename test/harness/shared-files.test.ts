import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('test/shared/all.ts lists every shared test file, so that workerd runs it too', () => {
  const listed = [...readFileSync('test/shared/all.ts', 'utf8').matchAll(/^import '\.\/(.+\.test\.ts)'$/gm)].map((match) => match[1])
  expect(listed.toSorted()).toEqual(
    readdirSync('test/shared')
      .filter((name) => name.endsWith('.test.ts'))
      .toSorted(),
  )
})

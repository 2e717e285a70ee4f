import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/index.ts'

/** Options for a value of the application, whatever it is. */
const ofAnyType = ['context', 'runContext']

/** Values of every type; no other option takes all of them. */
const oddities: unknown[] = [
  null,
  Number.NaN,
  -1,
  'nonsense',
  true,
  {},
  { nonsense: 1 },
  [],
  [null],
  () => 1,
  Symbol('odd'),
  10n,
  new Date(0),
  new AbortController(),
]

/** What `make` throws, or rejects with; `undefined` where it does not. */
async function refusal(make: () => unknown): Promise<unknown> {
  try {
    await make()
    return undefined
  } catch (error) {
    return error ?? new Error('nothing was thrown')
  }
}

/**
 * Proves that all options of a public function are checked. `sample` has a good value for each of them: the compiler refuses one that lacks an
 * option.
 */
export function checkedOptions<Options extends object>(
  name: string,
  sample: { [Name in keyof Required<Options>]: Required<Options>[Name] },
  make: (options: Options) => unknown,
  needed: readonly (keyof Options)[] = [],
): void {
  const base = Object.fromEntries(needed.map((key) => [key, sample[key]]))
  const withOption = (key: string, value: unknown) => () => make({ ...base, [key]: value } as Options)

  describe(`the options of ${name}`, () => {
    it('accepts, validates and names each option', async () => {
      for (const [key, value] of Object.entries(sample)) {
        expect(await refusal(withOption(key, value)), `${key} with a good value`).toBeUndefined()
        const refusals = await Promise.all(oddities.map((odd) => refusal(withOption(key, odd))))
        const thrown = refusals.filter((error) => error !== undefined)
        if (!ofAnyType.includes(key)) expect(thrown.length, `${key} takes anything`).toBeGreaterThan(0)
        for (const error of thrown) {
          expect(error, `${key} with a wrong value`).toBeInstanceOf(ConfigError)
          expect(String(error)).toContain(key)
        }
        const misspelt = await refusal(withOption(`${key}x`, value))
        expect(misspelt).toMatchObject({ code: 'invalidOption', message: expect.stringContaining(`${key}x`) })
        expect(String(misspelt)).toContain(`Did you mean ${key}?`)
      }
    })

    it('treats undefined as absent, except for required options', async () => {
      for (const key of Object.keys(sample)) {
        if (needed.includes(key as keyof Options)) continue
        expect(await refusal(withOption(key, undefined)), `${key}: undefined`).toBeUndefined()
      }
    })

    it('rejects non-object options', async () => {
      for (const odd of [null, 7, 'text', [], () => 1]) {
        expect(await refusal(() => make(odd as never)), String(odd)).toBeInstanceOf(ConfigError)
      }
    })
  })
}

/** What a tool is refused with has a code of its own. */
export function tolerant<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (ConfigError.isInstance(error) && error.code === 'invalidTool') throw new ConfigError('invalidOption', error.message)
    throw error
  }
}

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LoadError, ProviderError } from '../../src/contract/errors.ts'
import type { ProviderRegistry } from '../../src/providers/registry.ts'
import { plainRequest } from './model-call.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phi-missing-chunk-'))
  await build({
    entryPoints: { registry: 'src/providers/registry.ts' },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    outExtension: { '.js': '.mjs' },
    logLevel: 'silent',
  })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a provider whose chunk is gone ends the call with a LoadError, which is no ProviderError and is not retried', async () => {
  const registry: { ProviderRegistry: typeof ProviderRegistry } = await import(pathToFileURL(join(folder, 'registry.mjs')).href)
  // What a new deployment does under an open tab: everything that was not loaded yet is gone.
  const entry = readFileSync(join(folder, 'registry.mjs'), 'utf8')
  for (const file of readdirSync(folder)) if (!entry.includes(`from "./${file}"`) && file !== 'registry.mjs') rmSync(join(folder, file))
  const providers = new registry.ProviderRegistry()
  expect(providers.protocols()).toHaveLength(7)
  for (const api of providers.protocols()) {
    const { config } = { config: { api, id: 'm', name: 'm', provider: 'p', baseUrl: 'https://127.0.0.1', reasoning: false } }
    const cost = { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    const request = plainRequest({ ...config, contextWindow: 1, maxTokens: 1, cost, headers: {} }, { credential: 'key-0123456789' })
    const provider = providers.get(api)
    for (const call of [provider.encode(request), provider.stream(request, () => undefined, new AbortController().signal)]) {
      const error: unknown = await call.catch((thrown: unknown) => thrown)
      expect([api, LoadError.isInstance(error), ProviderError.isInstance(error)]).toEqual([api, true, false])
      expect(error).toMatchObject({ code: 'loadFailed', message: expect.stringMatching(/could not be loaded.*Reload/s) })
    }
  }
})

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { factoryCall } from '../../playground/src/models/factory-call.ts'
import { makeModel } from '../../playground/src/models/make-model.ts'
import { serviceToolKit } from '../../playground/src/models/service-tools.ts'
import { type ServiceId, serviceIds, services } from '../../playground/src/models/services.ts'
import { settingsFrom } from '../../playground/src/settings/parse-settings.ts'
import { programOf } from '../../playground/src/settings/program.ts'
import { defaultSettings, type Settings, toolNames } from '../../playground/src/settings/settings.ts'
import { Agent, thinkingLevels } from '../../src/index.ts'
import { publicEntries } from '../harness/public-entries.ts'
import { serve } from '../harness/serve.ts'
import { anthropic } from '../harness/server/anthropic.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

/** All that the page offers of a service. */
function toolsOf(service: ServiceId): string[] {
  return Object.keys(serviceToolKit({ source: 'direct', service })?.tools ?? {})
}

/** Every service, source, level and tool at least once, and texts that would break out of their quotes. */
function manySettings(address: string): Settings[] {
  const { model } = defaultSettings
  const direct = serviceIds.map((service) => ({
    ...defaultSettings,
    model: { ...model, source: 'direct' as const, service, modelId: services[service].modelId, address, serviceTools: toolsOf(service) },
  }))
  const nasty = '\'"`${process.exit(3)}\\\n\r\u2028\u2029*/ // 𝒳 \ud800'
  return [
    defaultSettings,
    ...direct,
    ...thinkingLevels.map((thinking): Settings => ({ ...defaultSettings, thinking })),
    ...toolNames.map((tool): Settings => ({ ...defaultSettings, tools: [tool], asksBeforeWriting: tool !== 'edit_file' })),
    { ...defaultSettings, tools: [], systemPrompt: nasty },
    { ...defaultSettings, compaction: { isOn: false, maxContextTokens: 20_000, compactAt: 70, keepRecentTurns: 3 } },
    { ...defaultSettings, model: { ...model, source: 'proxy', address: `${address}/models/anthropic`, inputPrice: 3, outputPrice: 15 } },
    { ...defaultSettings, model: { ...model, source: 'local', modelId: nasty, address: `${address}/v1`, contextWindow: 8000 } },
    {
      ...defaultSettings,
      request: {
        ...{ maxTokens: 500, temperature: 0.5, stop: ['END', nasty], toolChoice: 'required' as const },
        schema: '{"type":"object","properties":{"a-b":{"type":"string"}},"required":["a-b"]}',
      },
    },
    ...[true, false].map(
      (asksBeforeWriting): Settings => ({
        ...{ ...defaultSettings, tools: [], asksBeforeWriting, model: { ...model, source: 'local', modelId: 'm', address } },
        mcpServers: [
          { address: `${address}/mcp`, isOn: true },
          { address: `${address}/off`, isOn: false },
          { address: `${address}/it's`, isOn: true },
        ],
      }),
    ),
    { ...defaultSettings, place: 'server', serverUrl: address },
  ]
}

describe('the "view code" program', () => {
  it('type-checks with any settings', async () => {
    const folder = programsFolder()
    for (const [at, settings] of manySettings('https://example.invalid').entries()) {
      writeFileSync(join(folder, `program-${at}.ts`), programOf(settings))
    }
    const config = { extends: '../../../tsconfig.json', compilerOptions: { paths: publicPaths() }, include: ['.'], exclude: [] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const checked = await run('npx', ['tsc', '-p', join(folder, 'tsconfig.json')], { cwd: root }).catch((error: unknown) => error)
    expect(String(Object(checked).stdout)).toBe('')
  })

  it('runs on the scripted model with every tool', async () => {
    const { stdout } = await runProgram(programOf({ ...defaultSettings, tools: toolNames, thinking: 'high' }))
    expect(stdout).toBe('Hello from a scripted model.')
  })

  it('calls the configured provider with the key from the environment', async () => {
    const asked: { path: string; key: string | null; body: Record<string, unknown> }[] = []
    const server = await serve(async (request) => {
      asked.push({ path: new URL(request.url).pathname, key: request.headers.get('x-api-key'), body: await request.json() })
      return new Response(anthropic.frames({ text: ['Hello from ', 'a server.'] }).join(''), {
        headers: { 'content-type': 'text/event-stream' },
      })
    })
    onTestFinished(() => server[Symbol.asyncDispose]())
    const model = { ...defaultSettings.model, source: 'direct' as const, address: server.url, serviceTools: ['webSearch', 'codeExecution'] }
    const systemPrompt = 'You say hello.\nTwice: \'"`${1}'
    const { stdout } = await runProgram(programOf({ ...defaultSettings, model, systemPrompt }, "What's up?"), {
      ANTHROPIC_API_KEY: 'sk-ant-of-the-test',
    })
    expect(stdout).toBe('Hello from a server.')
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ path: '/v1/messages', key: 'sk-ant-of-the-test' })
    expect(JSON.stringify(asked[0]?.body)).toContain(JSON.stringify(systemPrompt).slice(1, -1))
    expect(JSON.stringify(asked[0]?.body)).toContain("What's up?")
    const declared = asked[0]?.body.tools
    expect(declared).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'web_search' }), expect.objectContaining({ name: 'code_execution' })]),
    )
    expect(JSON.stringify(declared)).not.toContain('web_fetch')
  })
})

it('uses the environment variable that the factory expects', async () => {
  const { model } = defaultSettings
  for (const service of serviceIds) {
    const call = factoryCall({ ...model, source: 'direct', service, modelId: services[service].modelId })
    const options = 'needsAddress' in services[service] ? { resource: 'example' } : call.options
    const made = (await import(join(root, sourceOf(`/providers/${call.entry}`))))[call.factory](call.modelId, options)
    expect(() => new Agent({ model: made }), service).toThrow(call.keyVariable)
  }
})

describe('hosted tools of a provider in the playground', () => {
  it('offers only hosted tools that the factory accepts', async () => {
    const offering = serviceIds.filter((service) => toolsOf(service).length > 0)
    expect(offering).toContain('openaiResponses')
    for (const service of offering) {
      const { modelId } = services[service]
      const choice = { ...defaultSettings.model, source: 'direct' as const, service, modelId, address: 'https://example.invalid' }
      const made = await makeModel({ ...choice, serviceTools: toolsOf(service) })
      expect(made.config.id, service).toBe(modelId)
    }
  })

  it('sends only hosted tools that the chosen provider supports', () => {
    const choice = { ...defaultSettings.model, serviceTools: ['imageGeneration', 'webFetch', 'toString'] }
    expect(factoryCall({ ...choice, source: 'proxy', service: 'anthropic' }).serviceTools?.names).toEqual(['webFetch'])
    expect(factoryCall({ ...choice, source: 'direct', service: 'mistral' }).serviceTools).toBe(undefined)
    expect(factoryCall({ ...choice, source: 'local', service: 'anthropic' }).serviceTools).toBe(undefined)
  })
})

describe('settings of unknown origin', () => {
  it.each([
    null,
    3,
    'x',
    [],
    { model: 7 },
    { limits: { maxTurns: -1, maxMinutes: Number.NaN } },
    { tools: 'all', compaction: { compactAt: 1e9 } },
    { textPace: 'fast' },
  ])('falls back to default settings: %j', (value) => {
    const settings = settingsFrom(value)
    expect(settings.limits.maxTurns).toBeGreaterThan(0)
    expect(settings.compaction.compactAt).toBeLessThanOrEqual(100)
    expect(settings.model.source).toBe('scripted')
    expect(settings.textPace).toBe('off')
  })

  it('keeps valid settings unchanged', () => {
    for (const settings of [...manySettings('https://example.invalid'), { ...defaultSettings, textPace: 'word' }])
      expect(settingsFrom(JSON.parse(JSON.stringify(settings)))).toEqual(settings)
  })
})

/** Inside the repository, so that the package's own name leads to its source. */
function programsFolder(): string {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function publicPaths(): Record<string, string[]> {
  const paths = {
    'phi-core': ['src/index.ts'],
    'phi-core/testing': ['testing/index.ts'],
    'phi-core/*': ['src/*.ts', 'src/*/index.ts', 'adapters/*/index.ts'],
  }
  return Object.fromEntries(Object.entries(paths).map(([name, places]) => [name, places.map((place) => join(root, place))]))
}

/** As JavaScript, which it is too: Node strips no types below node_modules. */
async function runProgram(program: string, env: Record<string, string> = {}): Promise<{ stdout: string }> {
  const file = join(programsFolder(), 'program.mjs')
  writeFileSync(file, inSource(program))
  return run(process.execPath, [file], { env: { PATH: process.env.PATH, ...env } })
}

/** The program with the package's names as paths of its source: nothing is built for this. */
function inSource(program: string): string {
  return program.replace(/from 'phi-core(\/[\w/-]+)?'/g, (_, entry: string = '') => `from '${join(root, sourceOf(entry))}'`)
}

function sourceOf(entry: string): string {
  return publicEntries().find(({ subpath }) => subpath === `.${entry}`)?.source ?? ''
}

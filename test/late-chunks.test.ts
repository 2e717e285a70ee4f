import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, bundleApp, launchChromium, type ModelReply, outcomeOf, serveApp } from './harness/app.ts'
import { assertFreshBuild } from './harness/fresh-build.ts'
import { builtFile } from './harness/public-entries.ts'
import { blankOut, readSources, resolveImport } from './harness/source.ts'
import { type GuardOutcome, guardProgram, lateChunkPrograms, type Outcome } from './support/late-chunk-programs.ts'

const run = promisify(execFile)

/** A place in `src` where something is loaded late. */
interface Site {
  /** `file:line`, for people. */
  at: string
  /** What is loaded: a source, or a package. */
  target: string
  isLateChunk: boolean
}

/** Every `import(…)` that runs; those in a type position do not. */
function lateSites(): Site[] {
  return [...readSources('src')].flatMap(([path, code]) => {
    const clean = blankOut(code)
    return [...clean.matchAll(/(?<!typeof\s)(?<![.\w$])import\s*\(\s*/g)].map((match) => {
      const specifier = /^['"]([^'"]+)/.exec(code.slice(match.index + match[0].length))?.[1] ?? ''
      const before = clean.slice(0, match.index)
      const statement = before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf('lateChunk(')))
      return {
        at: `${path}:${before.split('\n').length}`,
        target: resolveImport(path, specifier),
        isLateChunk: statement.startsWith('lateChunk('),
      }
    })
  })
}

const sites = lateSites()
const targets = [...new Set(sites.map(({ target }) => target))]
const isSource = (target: string): boolean => target.startsWith('src/')

const folder = mkdtempSync(join(tmpdir(), 'phi-late-'))
let browser: Browser | undefined
beforeAll(async () => {
  assertFreshBuild()
  browser = await launchChromium()
}, 60_000)
afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** An installed copy of the package, without the files of `missing`. */
function install(missing: readonly string[]): string {
  const project = mkdtempSync(join(folder, 'project-'))
  const modules = join(project, 'node_modules')
  cpSync('dist', join(modules, 'phi-core/dist'), { recursive: true, filter: (path) => !path.endsWith('.map') && !path.endsWith('types') })
  cpSync('package.json', join(modules, 'phi-core/package.json'))
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const name of Object.keys(dependencies)) {
    if (missing.includes(name)) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
  for (const target of missing.filter(isSource)) rmSync(join(modules, 'phi-core', builtFile(target)))
  return project
}

/** Runs a program in Node, without the files of `missing`. */
async function inNode<T>(program: string, missing: readonly string[], env: Record<string, string> = {}): Promise<T> {
  const project = install(missing)
  const file = join(project, 'program.mjs')
  writeFileSync(file, `${program}\nconsole.log(JSON.stringify(await globalThis.outcome))\n`)
  const { stdout } = await run(process.execPath, [file], { cwd: project, env: { ...process.env, ...env } })
  return JSON.parse(stdout)
}

/** The scripts of an application that hold `target`. */
function scriptsOf(app: App, target: string): string[] {
  const begins = isSource(target) ? builtFile(target) : `node_modules/${target}/`
  return Object.entries(app.metafile.outputs).flatMap(([name, { entryPoint }]) =>
    entryPoint?.startsWith(begins) ? [name.slice(name.indexOf('/') + 1)] : [],
  )
}

/** Runs a program in Chromium; the scripts of `missing` answer 404. */
async function inChromium(chromium: Browser, program: string, missing: readonly string[], replies: ModelReply[] = []): Promise<unknown> {
  const app = await bundleApp(program)
  const blocked = new Set(missing.flatMap((target) => scriptsOf(app, target)))
  if (missing.length === 1) expect(blocked.size, `scripts of ${missing}`).toBe(1)
  const served = await serveApp(app, replies, (name) => blocked.has(name))
  try {
    return await outcomeOf(chromium, served)
  } finally {
    await served.close()
  }
}

function expectLoadFailed({ status, error, types, transcript }: Outcome): void {
  expect({ status, error }).toEqual({ status: 'error', error: { code: 'loadFailed', message: expect.stringMatching(/Reload the page/) } })
  expect(types.filter((type) => type === 'providerRetry')).toEqual([])
  expect(types.filter((type) => type === 'agentEnd')).toHaveLength(1)
  expect(transcript).not.toMatch(/module|import|reload|could not be loaded|could not be validated/i)
}

describe('lazy loading', () => {
  it('uses lateChunk in all of at most 17 places', () => {
    expect.soft(sites.filter(({ isLateChunk }) => !isLateChunk).map(({ at }) => at)).toEqual([])
    expect(sites.map(({ at }) => at).length).toBeLessThanOrEqual(17)
  })

  it('documents each chunk with a reason in docs/internals/performance.md', () => {
    const rows = readFileSync('docs/internals/performance.md', 'utf8').split('\n')
    const reasonOf = (target: string): string =>
      rows
        .find((row) => row.startsWith(`| \`${target}\` |`))
        ?.split('|')[3]
        ?.trim() ?? ''
    expect(targets.filter((target) => reasonOf(target) === '')).toEqual([])
  })

  it('puts each chunk into a separate file', () => {
    expect(targets.filter(isSource).filter((target) => !existsSync(builtFile(target)))).toEqual([])
  })

  it('covers each chunk with a program that requires it', () => {
    expect(targets.filter((target) => lateChunkPrograms[target] === undefined)).toEqual([])
  })
})

describe.each(Object.entries(lateChunkPrograms))('without %s', (target, program) => {
  const isThere = targets.includes(target)

  it.runIf(isThere)('ends a Node run with loadFailed, without a model error', async () => {
    expectLoadFailed(await inNode<Outcome>(program, [target]))
  })

  it.runIf(isThere)('ends a Chromium run with loadFailed, without a model error', async (context) => {
    if (browser === undefined) return context.skip('no browser')
    expectLoadFailed((await inChromium(browser, program, [target])) as Outcome)
  })

  it('requires a module that is still loaded lazily', () => expect(targets).toContain(target))
})

describe('without any lazy chunk', () => {
  const call = { text: ['I add.'], calls: [{ id: 'call_1', name: 'add', arguments: { a: 2, b: 3 } }] }
  const replies: ModelReply[] = [{ status: 429 }, call, { text: ['5.'] }, call, { text: ['No.'] }, { status: 401 }]

  function expectGuarded({ approved, denied, rejected, unauthorized, calls }: GuardOutcome): void {
    expect(approved.status).toBe('completed')
    for (const type of ['providerRetry', 'approvalRequested', 'approvalResolved']) expect(approved.types).toContain(type)
    expect(approved.transcript).toContain('[Warning: careful]')
    expect(denied.status).toBe('completed')
    expect(denied.transcript).toContain('not today')
    expect(rejected.status).toBe('rejected')
    expect(unauthorized).toMatchObject({ status: 'error', error: { code: 'auth' } })
    expect(unauthorized.types).not.toContain('providerRetry')
    expect(calls.filter((each) => each === 'executed')).toHaveLength(1)
    expect(calls[0]).toBe('hook add')
  }

  /** A provider that a program imports itself is not missing. */
  const missing = targets.filter((target) => !isSource(target) || builtFile(target).startsWith('dist/late/'))

  it('runs approvals, hooks, filters, retries and error parsing in Node', async () => {
    const served = await serveApp(await bundleApp('export {}'), replies)
    try {
      expectGuarded(await inNode<GuardOutcome>(guardProgram, missing, { MODEL: served.url }))
    } finally {
      await served.close()
    }
  })

  it('runs approvals, hooks, filters, retries and error parsing in Chromium', async (context) => {
    if (browser === undefined) return context.skip('no browser')
    expectGuarded((await inChromium(browser, guardProgram, missing, replies)) as GuardOutcome)
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestHarness, TestHarnessOptions } from 'wrangler'

/** What wrangler is told about a Worker under test. */
export interface TestedWorker {
  /** Path from the root of the repository. */
  main: string
  /** Classes of objects by their binding. */
  objects: Record<string, string>
  kv?: string[]
  d1?: string[]
}

/** A Worker in workerd with the bindings of wrangler, Node compatibility off; offline, and nobody is told. */
export interface RunningWorker {
  harness: TestHarness
  url: URL
  close(): Promise<void>
}

/** Starts the Worker of `main` with these bindings. */
export function startWorker({ main, objects, kv = [], d1 = [] }: TestedWorker): Promise<RunningWorker> {
  const config = {
    name: 'tested',
    main,
    compatibility_date: '2026-09-01',
    compatibility_flags: ['no_nodejs_compat', 'no_nodejs_compat_v2'],
    send_metrics: false,
    kv_namespaces: kv.map((binding) => ({ binding, id: binding })),
    d1_databases: d1.map((binding) => ({ binding, database_name: binding, database_id: binding })),
    durable_objects: { bindings: Object.entries(objects).map(([name, class_name]) => ({ name, class_name })) },
    migrations: [{ tag: 'v1', new_sqlite_classes: [...new Set(Object.values(objects))] }],
  }
  return startWith({ workers: [{ config }] })
}

/** Starts the Worker of a configuration file, with secrets of a test in place of those a developer has. */
export function startConfigured(configPath: string, secrets: Record<string, string>): Promise<RunningWorker> {
  return startWith({ workers: [{ configPath, secrets }] })
}

async function startWith(options: TestHarnessOptions): Promise<RunningWorker> {
  const scratch = await mkdtemp(join(tmpdir(), 'phi-worker-'))
  // wrangler runs in this process and reads these. Other files of tests share the process: what is silent here must speak there.
  const offline = { WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false' }
  const restore = setEnvironment({ ...offline, WRANGLER_LOG: 'none', WRANGLER_WRITE_LOGS: 'false', XDG_CONFIG_HOME: scratch })
  const { createTestHarness } = await import('wrangler')
  const harness = createTestHarness(options)
  const close = async (): Promise<void> => {
    await harness.close()
    restore()
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    return { harness, url: (await harness.listen()).url, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Sets variables of this process; returns how to put back what was there. */
function setEnvironment(variables: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundleForWorkerd, listeningPort } from '../harness/workerd-serve.ts'

/** A Worker in the bare workerd binary, whose objects are on disk: it may be killed and started again. */
export interface KillableWorker {
  /** Starts it and resolves with its address. */
  start(): Promise<string>
  /** SIGKILL; resolves once the process is gone. */
  kill(): Promise<void>
  /** Kills it and removes its files. */
  close(): Promise<void>
}

/** Prepares the Worker of `main`, a path from the root of the repository, with these classes of objects by their binding. */
export async function killableWorker(main: string, objects: Record<string, string>): Promise<KillableWorker> {
  const folder = mkdtempSync(join(tmpdir(), 'phi-kill-'))
  mkdirSync(join(folder, 'state'))
  await bundleForWorkerd(resolve(main), join(folder, 'worker.js'))
  const config = join(folder, 'config.capnp')
  writeFileSync(config, configOf(join(folder, 'state'), objects))
  const { default: binary }: { default: string } = createRequire(import.meta.url)('workerd') // the package exports the path of its binary
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    const running = child
    child = undefined
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const gone = new Promise((done) => running.once('exit', done))
    running.kill('SIGKILL')
    await gone
  }
  return {
    start: async () => {
      child = spawn(binary, ['serve', config, '--control-fd=3', '--experimental'], { stdio: ['ignore', 'inherit', 'inherit', 'pipe'] })
      return `http://127.0.0.1:${await listeningPort(child)}`
    },
    kill,
    close: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function configOf(state: string, objects: Record<string, string>): string {
  const classes = Object.values(objects).map((name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`)
  const bindings = Object.entries(objects).map(([binding, name]) => `(name = "${binding}", durableObjectNamespace = "${name}")`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "state", disk = (path = ${JSON.stringify(state)}, writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-09-01",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
  durableObjectNamespaces = [${classes.join(', ')}],
  durableObjectStorage = (localDisk = "state"),
  bindings = [${bindings.join(', ')}]
);
`
}

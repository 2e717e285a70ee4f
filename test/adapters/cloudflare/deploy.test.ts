import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

it("deploys this repository's Worker unchanged and reports its size", async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'phi-deploy-'))
  try {
    await mkdir('dist-playground', { recursive: true })
    const env = {
      ...process.env,
      XDG_CONFIG_HOME: scratch,
      WRANGLER_SEND_METRICS: 'false',
      NO_COLOR: '1',
      WRANGLER_HIDE_BANNER: 'true',
      WRANGLER_LOG: 'log',
    }
    const flags = ['deploy', '--dry-run', '--outdir', join(scratch, 'out')]
    const { stdout } = await run(process.execPath, [resolve('node_modules/wrangler/bin/wrangler.js'), ...flags], { env })
    const [, size] = /gzip: ([\d.]+) KiB/.exec(stdout) ?? []
    console.log(`the Worker, gzip: ${size} KiB`)
    // A free plan takes 3 MiB.
    expect(Number(size)).toBeLessThan(1024)
    for (const binding of ['SESSIONS', 'INDEX']) expect(stdout).toContain(binding)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
})

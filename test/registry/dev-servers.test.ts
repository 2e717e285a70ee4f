/** The servers that the start pages start in a fresh folder. The packed tarball stands in for `phi-core`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { blocksOf } from '../docs/snippets.ts'
import { baseUrl } from '../harness/env.ts'
import { otherNode } from '../harness/other-node.ts'
import { pack } from '../harness/packed.ts'
import { newestNode, type Stranger, stranger } from './stranger.ts'

const folder = mkdtempSync(join(tmpdir(), 'phi-dev-servers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pages = ['docs/start/browser.md', 'docs/start/server.md']
const commands = pages
  .flatMap((page) => blocksOf(readFileSync(page, 'utf8')))
  .flatMap(({ language, code }) => (language === 'sh' ? [code] : []))

/** The one line of the pages that contains `part`. */
function line(part: string): string {
  const found = commands.flatMap((code) => code.split('\n')).filter((text) => text.includes(part))
  expect(found, part).toHaveLength(1)
  return found.join('')
}

/** Has installed the package and copied the examples; `undefined` where Node cannot be installed. */
let person: Stranger | undefined
beforeAll(async () => {
  const node = otherNode(newestNode())
  if (node === undefined) return
  person = stranger(folder, node)
  const { tarball } = pack(folder)
  await person.shell(`npm init -y && npm pkg set type=module && npm install ${tarball} && cp -r node_modules/phi-core/examples .`)
})

it('serves the page of the browser example', async (context) => {
  const { shell, serve } = person ?? context.skip('The newest Node cannot be installed')
  await shell(line('npm install -D vite'))
  const printed = await serve(`${line('vite examples/browser')} --host 127.0.0.1 --port 0`, /Local:\s+http:\S+\//)
  const [url = ''] = /http:\S+\//.exec(printed) ?? []
  const page = await (await fetch(url)).text()
  const [, script = ''] = /<script type="module" src="([^"]*main[^"]*)"/.exec(page) ?? []
  const code = await (await fetch(new URL(script, url))).text()
  expect(code).toContain('phi-core')
  // Vite has found the package and everything that it imports.
  for (const [, path = ''] of code.matchAll(/from "(\/[^"]+)"/g)) expect((await fetch(new URL(path, url))).status, path).toBe(200)
}, 600_000) // it ends a test that hangs: npm alone takes two minutes on a busy machine

it('responds to the documented curl command under wrangler dev', async (context) => {
  const { shell, serve } = person ?? context.skip('The newest Node cannot be installed')
  await shell(line('npm install hono wrangler'))
  const secrets = {
    ACCESS_TOKEN: 'YOUR_ACCESS_TOKEN',
    ANTHROPIC_API_KEY: 'test-key',
    ANTHROPIC_BASE_URL: `${baseUrl()}/anthropic/text/${crypto.randomUUID()}`,
  }
  const vars = Object.entries(secrets).map(([name, value]) => `${name}=${value}`)
  await shell(`cat > examples/cloudflare/.dev.vars <<'END'\n${vars.join('\n')}\nEND`)
  const printed = await serve(`${line('wrangler dev')} --ip 127.0.0.1 --port 0 --inspector-port 0 < /dev/null`, /Ready on \S+:\d+/)
  const [, port = ''] = /Ready on \S+:(\d+)/.exec(printed) ?? []
  const curl = line('curl -N').replace(':8787', `:${port}`)
  expect(curl).toContain(`:${port}/`)
  expect(await shell(curl)).toMatch(/"type":"agentStart"[\s\S]*"type":"agentEnd","status":"completed"/)
  expect(await shell(curl.replace('YOUR_ACCESS_TOKEN', 'another-token'))).toContain('"code":"unauthorized"')
}, 600_000) // it ends a test that hangs: npm alone takes two minutes on a busy machine

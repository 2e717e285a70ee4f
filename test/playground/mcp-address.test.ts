import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { addressRefusal, serverPrefixes } from '../../playground/src/mcp/mcp-address.ts'
import { legalPrefix } from '../../src/mcp/tool-name.ts'

const page = readFileSync(join(import.meta.dirname, '../../playground/index.html'), 'utf8')
// Without the page itself, which has no address here.
const policy = (/content="(default-src[^"]+)"/.exec(page)?.[1] ?? '').replace("connect-src 'self'", 'connect-src')

describe('the address of an MCP server', () => {
  it.each([
    'http://localhost:3000/mcp',
    'http://127.0.0.1:8080/mcp?x=1',
    'http://localhost/mcp',
    'https://api.x.ai/mcp',
    'https://one.openai.azure.com/mcp',
  ])('accepts %s', (address) => expect(addressRefusal(address, policy)).toBe(undefined))

  it.each([
    'https://example.com/mcp',
    'http://localhost.example.com/mcp',
    'http://127.0.0.2:80/mcp',
    'https://localhost:3000/mcp',
    'http://api.x.ai/mcp',
    'https://api.x.ai:444/mcp',
    'https://openai.azure.com.example.com/mcp',
  ])("rejects an address that the page's policy forbids: %s", (address) => {
    expect(addressRefusal(address, policy)).toContain(`forbids ${new URL(address).origin}.`)
    expect(addressRefusal(address, policy)).toContain('on this machine')
  })

  it.each(['', 'mcp', 'file:///mcp', 'javascript:alert(1)', 'ws://localhost:1'])('rejects an invalid address: %j', (address) =>
    expect(addressRefusal(address, policy)).toContain('http://'),
  )

  it('rejects a password, because the address is stored', () =>
    expect(addressRefusal('http://a:b@localhost:1/mcp', policy)).toContain('password'))
})

it('assigns each server a unique and legal prefix', () => {
  const long = `http://${'a'.repeat(60)}.localhost:1/mcp`
  const addresses = [
    'http://localhost:3000/mcp',
    'http://localhost:3000/other',
    'http://127.0.0.1:8/mcp',
    'http://[::1]:8/mcp',
    'x',
    long,
    `${long}2`,
  ]
  const prefixes = serverPrefixes(addresses)
  for (const prefix of prefixes) expect(prefix).toMatch(legalPrefix)
  expect(new Set(prefixes).size).toBe(addresses.length)
  expect(prefixes.slice(0, 3)).toEqual(['localhost-3000', 'localhost-3000-2', 'at-127-0-0-1-8'])
})

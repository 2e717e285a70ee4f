import { describe, expect, it } from 'vitest'
import { appDocument, appPolicy, approvedDomains } from '../../../src/mcp/apps/app-policy.ts'

const policyOf = (csp?: Parameters<typeof approvedDomains>[0]) => appPolicy(approvedDomains(csp))

describe('the policy of an app', () => {
  it('allows no network without domains', () => {
    expect(policyOf()).toBe(
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; base-uri 'none'; object-src 'none'; form-action 'none'",
    )
  })

  it('adds declared domains to the directives of their list', () => {
    const policy = policyOf({
      connectDomains: ['https://api.example.com', 'wss://live.example.com:8443'],
      resourceDomains: ['https://*.cdn.example.com'],
      frameDomains: ['https://video.example.com/'],
    })
    expect(policy).toContain('connect-src https://api.example.com wss://live.example.com:8443;')
    expect(policy).toContain("script-src 'unsafe-inline' https://*.cdn.example.com;")
    expect(policy).toContain('font-src data: https://*.cdn.example.com;')
    expect(policy).toContain('frame-src https://video.example.com/;')
  })

  it.each([
    ...['*', 'https:', 'https://*', 'https://*.com', 'http://example.com', 'ws://example.com', 'example.com', 'data:', "'unsafe-eval'"],
    ...['https://a.test; script-src *', 'https://a.test https://b.test', 'https://a.test,https://b.test', 'https://a.test\nx'],
    ...[
      'https://a.test"><script>',
      'https://user@a.test',
      'https://a.test/path',
      'https://a.test?x',
      'javascript:alert(1)',
      'blob:https://a.test',
    ],
    ...['https://localhost', 'https://127.0.0.1', 'https://0x7f.1', 'https://10.0.0.1:8080', 'https://[::1]', 'https://printer.local'],
    ...['https://169.254.169.254', 'https://a..test', 'https://-a.test', `https://${'a'.repeat(300)}.test`, ''],
  ])('drops the domain %j', (domain) => {
    expect(policyOf({ connectDomains: [domain], resourceDomains: [domain], frameDomains: [domain], baseUriDomains: [domain] })).toBe(
      policyOf(),
    )
  })

  it('stands before everything that the app writes', () => {
    const html = '"></iframe><meta http-equiv="Content-Security-Policy" content="default-src *"><script>1 && 2</script>'
    const written = appDocument(html, policyOf())
    expect(written.indexOf("default-src 'none'")).toBeLessThan(written.indexOf('default-src *'))
    expect(written).toContain('srcdoc="<!doctype html><meta charset=&quot;utf-8&quot;>&quot;></iframe>')
    expect(written.endsWith('1 &amp;&amp; 2</script>"></iframe>')).toBe(true)
  })
})

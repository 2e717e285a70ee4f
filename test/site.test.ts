import { beforeAll, describe, expect, it } from 'vitest'
import { missingComments } from '../scripts/site/reference.ts'
import { renderSite } from '../scripts/site.ts'
import { assertFreshBuild } from './harness/fresh-build.ts'

/** The pages of the documentation as `npm run site` writes them, before Vite builds them. */
describe('the site', () => {
  let site: ReturnType<typeof renderSite> = { files: new Map(), dead: [] }
  beforeAll(() => {
    assertFreshBuild()
    site = renderSite()
  })

  const pageOf = (path: string): string => site.files.get(path) ?? ''

  it('has a page for each docs page and each package entry', () => {
    expect(site.files.size).toBeGreaterThan(90)
    expect(pageOf('concepts/tools.html')).toContain('<h1>Tools</h1>')
    expect(pageOf('api/core.html')).toContain('<h3 id="agent">')
  })

  it('has a comment for every exported name', () => expect(missingComments).toEqual([]))

  it('has no broken links to pages or anchors', () => {
    expect(site.dead).toEqual([])
    const dead = [...site.files].flatMap(([path, html]) => {
      if (!path.endsWith('.html')) return []
      return Array.from(html.matchAll(/href="([^"]+)"/g), ([, href = '']) => href).filter((href) => {
        if (/^(?:https?:|data:)/.test(href)) return false
        const { pathname, hash } = new URL(href, `file:///${path}`)
        const target = pageOf(pathname.slice(1))
        if (pathname.startsWith('/playground/')) return false // built beside it
        return target === '' || (hash !== '' && hash !== '#content' && !target.includes(`id="${decodeURIComponent(hash.slice(1))}"`))
      })
    })
    expect(dead).toEqual([])
  })

  it('provides llms.txt with a page list, and llms-full.txt', () => {
    expect(pageOf('llms.txt')).toMatch(/^# phi-core\n\n> An SDK/)
    expect(pageOf('llms.txt')).toContain('- [Tools](concepts/tools.html)')
    expect(pageOf('llms-full.txt')).toContain('# Errors and troubleshooting')
    expect(pageOf('llms-full.txt')).toContain('### modelFromEnv')
  })

  it('indexes every section for search', () => {
    const entries: { path: string; heading: string; text: string }[] = JSON.parse(pageOf('search.json'))
    expect(entries.find(({ heading }) => heading === 'rateLimited')).toMatchObject({ path: 'reference/errors' })
    expect(entries.filter(({ text }) => text.includes('approv')).length).toBeGreaterThan(20)
  })
})

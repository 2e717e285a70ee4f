import { isPrivateHost } from '../../base/private-host.ts'
import { domainLists, type McpAppDomains } from './app-resource.ts'

/** Maximum characters of a domain. */
const maxDomain = 300
/** An origin with a host name or an IPv4 address; `*.` stands for all subdomains of a domain with at least two labels. */
const origin =
  /^(?:https|wss):\/\/(?:\*\.(?=[^./:]+\.))?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?::\d{1,5})?\/?$/i

/**
 * Returns whether a domain may go into a policy: an https or wss origin outside this machine and private networks. A policy separates its
 * parts with spaces, commas and semicolons, which no domain contains.
 */
function isPublicOrigin(domain: string): boolean {
  if (domain.length > maxDomain || !origin.test(domain)) return false
  const url = URL.parse(domain.replace('//*.', '//'))
  return url !== null && !isPrivateHost(url.hostname)
}

/** Returns the domains that {@link isPublicOrigin} accepts, each once. */
export function approvedDomains(csp: McpAppDomains = {}): Required<McpAppDomains> {
  const approved = domainLists.map((name) => [name, [...new Set((csp[name] ?? []).filter(isPublicOrigin))]] as const)
  return Object.fromEntries(approved) as Required<McpAppDomains> // each list of the type is one of `domainLists`
}

/**
 * Returns the Content Security Policy of an app's document. Without domains it has no network. Omits `'self'`, which matches nothing in a
 * document with an opaque origin.
 */
export function appPolicy({ connectDomains, resourceDomains, frameDomains, baseUriDomains }: Required<McpAppDomains>): string {
  const code = ["'unsafe-inline'", ...resourceDomains]
  const directives: Record<string, readonly string[]> = {
    'default-src': [],
    'script-src': code,
    'style-src': code,
    'img-src': ['data:', 'blob:', ...resourceDomains],
    'media-src': ['data:', 'blob:', ...resourceDomains],
    'font-src': ['data:', ...resourceDomains],
    'connect-src': connectDomains,
    'frame-src': frameDomains,
    'base-uri': baseUriDomains,
    'object-src': [],
    'form-action': [],
  }
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources.join(' ') || "'none'"}`)
    .join('; ')
}

/** Passes messages between the page and the app. Each knows the other only through it. */
const relay = `addEventListener('message', ({ source, data }) => {
  if (source === parent) frames[0].postMessage(data, '*')
  else if (source === frames[0]) parent.postMessage(data, '*')
})`

/**
 * Returns the document for the frame of an app: a frame of our own, which contains the app in a second one.
 *
 * The app cannot leave its frame: the policy of the outer document decides what the inner frame may load, and no script of the app reaches
 * the outer document. With a single frame, an app could navigate to a document without the policy.
 */
export function appDocument(html: string, policy: string): string {
  const head = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`
  const style = '<style>html, body, iframe { display: block; width: 100%; height: 100%; margin: 0; border: 0 }</style>'
  const srcdoc = `<!doctype html><meta charset="utf-8">${html}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const inner = `<iframe title="App" sandbox="allow-scripts" allow="" referrerpolicy="no-referrer" srcdoc="${srcdoc}"></iframe>`
  return `${head}${style}<script>${relay}</script>${inner}`
}

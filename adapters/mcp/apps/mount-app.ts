import { checkOptions } from '../../../src/contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  anObject,
  aPositiveNumber,
  aText,
  either,
  kind,
  listOf,
  oneOf,
  options as optionsOf,
  required,
  withMethods,
} from '../../../src/contract/shape/shape.ts'
import type { McpAppCallState } from '../../../src/mcp/apps/app-call-state.ts'
import type { McpAppContext, McpAppHost } from '../../../src/mcp/apps/app-host.ts'
import { appDocument, appPolicy, approvedDomains } from '../../../src/mcp/apps/app-policy.ts'
import { type McpAppDomains, type McpAppResource, maxHtml } from '../../../src/mcp/apps/app-resource.ts'
import type { McpAppServer } from '../../../src/mcp/apps/app-server.ts'
import { AppSession } from '../../../src/mcp/apps/app-session.ts'

/** Options for `mountMcpApp`: the app, its tool call and its host. */
export interface McpAppOptions {
  /** The app's server, from `McpToolSet.app`. */
  server: McpAppServer
  /** The app's HTML, from `server.read()`. */
  resource: McpAppResource
  /** The tool call that the app shows, such as the tool part of a `Chat`. Default: none until `update`. */
  call?: McpAppCallState
  /** Handles the app's requests. Default: none, so that calls that need an approval are denied. */
  host?: McpAppHost
  /** Default: the language and time zone of the browser. */
  context?: McpAppContext
  /** Maximum height of the frame in CSS pixels. Default: 600. */
  maxHeight?: number
  /** The frame's name for screen readers. Default: the tool's title. */
  title?: string
  /**
   * URL of a page that writes the document, if your page's Content Security Policy forbids inline scripts. Default: none; the frame uses
   * `srcdoc`.
   */
  page?: string | URL
}

/** An element of the page. Declared here, so that projects without browser types can use the package. */
interface ParentElement {
  append(...nodes: (object | string)[]): void
}

/** An app in its mounted frame. */
export interface McpAppFrame {
  /** Domains that the app can connect to or load from. Show them to the user. */
  readonly domains: readonly string[]
  /** Sends the new state of the tool call to the app. */
  update(call: McpAppCallState): void
  /** Sends changes to the host context to the app. */
  setContext(context: McpAppContext): void
  /** Waits up to 300 ms for the app to shut down, then removes the frame. */
  close(): Promise<void>
}

const aDomainList = listOf(aText)

const resourceOptions = optionsOf<McpAppResource>({
  html: required(kind(`HTML of at most ${maxHtml} characters`, (value) => typeof value === 'string' && value.length <= maxHtml)),
  csp: optionsOf<McpAppDomains>({
    connectDomains: aDomainList,
    resourceDomains: aDomainList,
    frameDomains: aDomainList,
    baseUriDomains: aDomainList,
  }),
  prefersBorder: aFlag,
})

const appOptions = optionsOf<McpAppOptions>({
  server: required(withMethods('a server, as McpToolSet.app returns', 'read', 'call', 'readResource')),
  resource: required(resourceOptions),
  call: anObject,
  host: optionsOf<McpAppHost>({ approve: aFunction, draft: aFunction, openLink: aFunction, updateContext: aFunction, onEnd: aFunction }),
  context: optionsOf<McpAppContext>({ theme: oneOf('light', 'dark'), locale: aText, timeZone: aText }),
  maxHeight: aPositiveNumber,
  title: aText,
  page: either(
    aText,
    kind('a URL', (value) => value instanceof URL),
  ),
})

/** Milliseconds for an app to shut down. */
const teardownMs = 300

/**
 * Shows an app of an MCP server in a sandboxed frame inside `parent`.
 *
 * **Contract**
 * - The frame has an opaque origin: it can access neither this page nor its storage. Without approved domains, it has no network.
 * - The app's tool calls need the same approval as the model's calls; see `McpAppServer`.
 * - The app can neither navigate away nor open windows.
 * - Removes a frame that exceeds a limit, and calls `host.onEnd` with the reason.
 * - Throws `ConfigError` for invalid options. For a new parent, mount a new frame, because browsers reload a frame that moves.
 *
 * Source: docs/guides/mcp-apps.md
 *
 * @example
 * const server = tools.app(part.toolName)
 * if (server) mountMcpApp(card, { server, resource: await server.read(), call: part, host: { approve: askUser } })
 */
export function mountMcpApp(parent: ParentElement, options: McpAppOptions): McpAppFrame {
  checkOptions(options, appOptions)
  const { server, resource, call, host = {}, maxHeight = 600, page } = options
  const { title = server.tool.title ?? server.tool.name, context = {} } = options
  const domains = approvedDomains(resource.csp)
  const frame = document.createElement('iframe')
  const posted = (message: MessageEvent) => {
    // Accept messages only from this frame, and only from a document with an opaque origin.
    if (message.source !== null && message.source === frame.contentWindow && message.origin === 'null') session.receive(message)
  }
  const session = new AppSession({
    ...{ server, host, domains, maxHeight },
    context: { locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, ...context },
    post: (message) => frame.contentWindow?.postMessage(message, '*'),
    onSize: (height) => {
      frame.style.height = `${Math.ceil(Math.min(height, maxHeight))}px`
    },
    onEnd: (reason) => {
      removeEventListener('message', posted)
      frame.remove()
      if (reason !== undefined) host.onEnd?.(reason)
    },
  })
  if (call !== undefined) session.show(call)
  addEventListener('message', posted)
  fill(frame, appDocument(resource.html, appPolicy(domains)), page)
  frame.title = title
  parent.append(frame)
  return {
    domains: [...new Set(Object.values(domains).flat())],
    update: (state) => session.show(state),
    setContext: (change) => session.setContext(change),
    close: async () => {
      await within(teardownMs, session.teardown())
      session.end()
    },
  }
}

/** Sets the sandbox, permissions, referrer policy and document before the frame enters the page. */
function fill(frame: HTMLIFrameElement, html: string, page: string | URL | undefined): void {
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.setAttribute('allow', '')
  frame.referrerPolicy = 'no-referrer'
  frame.style.cssText = 'display: block; width: 100%; border: 0'
  if (page === undefined) frame.srcdoc = html
  else {
    frame.src = String(page)
    frame.addEventListener('load', () => frame.contentWindow?.postMessage({ html }, '*'), { once: true })
  }
}

function within(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

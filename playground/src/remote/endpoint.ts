/** Where the agent of this page is, when a server shows the page for its agent alone, as `phi serve` does: a path on that server. */
export const endpoint: string | undefined = document.querySelector<HTMLMetaElement>('meta[name="phi-endpoint"]')?.content

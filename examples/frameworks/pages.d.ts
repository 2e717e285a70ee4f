declare module '*.vue' {
  const page: import('vue').Component
  export default page
}

declare module '*.svelte' {
  const page: import('svelte').Component
  export default page
}

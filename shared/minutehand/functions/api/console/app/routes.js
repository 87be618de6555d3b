// All pages. Those with an icon are in the navigation, and `g` and their key open them.
export const routes = [
  { path: "", title: "Home", icon: "home", key: "h", load: () => import("../pages/home.js") },
  { path: "jobs", title: "Jobs", icon: "jobs", key: "j", load: () => import("../pages/jobs.js") },
  { path: "jobs/:id", title: "Job", under: "jobs", load: () => import("../pages/job.js") },
  { path: "queues", title: "Queues", icon: "queues", key: "q", load: () => import("../pages/queues.js") },
  { path: "failures", title: "Failures", icon: "alert", key: "f", load: () => import("../pages/failures.js") },
  { path: "schedules", title: "Schedules", icon: "clock", key: "s", load: () => import("../pages/schedules.js") },
  { path: "batches", title: "Batches", icon: "batches", key: "b", load: () => import("../pages/batches.js") },
  { path: "audit", title: "Audit", icon: "audit", key: "a", load: () => import("../pages/audit.js") },
  { path: "system", title: "System", icon: "system", key: "y", load: () => import("../pages/system.js") },
];

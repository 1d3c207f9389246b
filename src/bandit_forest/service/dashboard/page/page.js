// Keeps the page up to date: often what changes with every event, rarely what costs the service more.

import { Absent, KeyNeeded, forgetKey, getBlob, getJson, hasKey, keepKey } from "./api.js";
import { decisionsChart, nothing, rewardChart } from "./charts.js";
import { byId, make, plural } from "./dom.js";
import { evaluationParts } from "./evaluation.js";
import { importanceBySide, offerExplanation, propensityList } from "./offers.js";
import { actionTable, decisionRow, explanation, importanceList, tiles } from "./sections.js";

const OFTEN = 2_000;
const RARELY = 30_000;

let status = null;
let places = new Map(); // of actions, by name: their colours
let treeNumber = 0;
let asked = 0; // when the costly parts were last asked for

async function refresh() {
  try {
    status = await getJson("/v1/status");
    showStatus();
    if (!isRead(byId("recent"))) showRecent((await getJson("/v1/recent")).events);
    byId("paused").hidden = !isRead(byId("recent"));
    if (Date.now() - asked > RARELY) {
      asked = Date.now();
      await Promise.all([showEvaluation(), showImportance(), showTree()]);
    }
    connection("live", "live");
  } catch (error) {
    if (error instanceof KeyNeeded) return askForKey(error.message);
    connection("lost", "no answer, trying again", error.message);
  }
  setTimeout(refreshWhenSeen, OFTEN);
}

function refreshWhenSeen() {
  if (!document.hidden) return refresh();
  document.addEventListener("visibilitychange", refreshWhenSeen, { once: true });
}

function connection(state, text, reason = "") {
  byId("connection").className = `connection ${state}`;
  byId("connection").textContent = text;
  byId("connection").title = reason;
}

function showStatus() {
  document.title = `${status.name} · Bandit Forest`;
  byId("name").textContent = status.name;
  byId("mode").textContent = "shadow mode";
  byId("mode").hidden = status.mode !== "shadow";
  byId("forget").hidden = !hasKey();
  tell("alarm", status.storage_failing ? `The journal cannot be written: ${status.storage_failure ?? "unknown reason"}. ${plural(status.queued, "operation waits", "operations wait")} in memory.` : "");
  tell("news", status.warm_up_left > 0 ? `Warming up: ${plural(status.warm_up_left, "more lesson is", "more lessons are")} needed to learn the features. Until then decisions are uniform.` : "");
  places = new Map(status.actions.map((action, place) => [action.name, place]));
  document.querySelector("main").classList.toggle("offered", status.offers);
  document.querySelector("main").hidden = false;
  byId("tiles").replaceChildren(...tiles(status));
  if (status.offers) byId("propensities").replaceChildren(propensityList(status));
  else byId("actions").replaceChildren(actionTable(status.actions));
  drawCharts();
}

function tell(id, text) {
  byId(id).textContent = text;
  byId(id).hidden = text === "";
}

function drawCharts() {
  if (status === null || isPointedAt(byId("rewards")) || isPointedAt(byId("decisions"))) return;
  rewardChart(byId("rewards"), status);
  decisionsChart(byId("decisions"), status);
}

const isPointedAt = (element) => element.querySelector("svg:hover") !== null;
const isRead = (list) => list.querySelector("details[open], :focus-visible") !== null;

function showRecent(events) {
  const rows = events.slice(0, 12).map((event) => {
    const details = make("details", {}, decisionRow(event, places));
    details.addEventListener("toggle", () => details.open && details.childElementCount === 1 && explain(details, event), { once: true });
    return details;
  });
  byId("recent").replaceChildren(...(rows.length > 0 ? rows : [nothing("No decisions yet.")]));
}

async function explain(details, event) {
  const panel = make("div", { class: "explanation" }, "…");
  details.append(panel);
  try {
    const told = await getJson(`/v1/explain/${encodeURIComponent(event.event_id)}`);
    panel.replaceChildren(...(status.offers ? offerExplanation(told) : explanation(told, places)));
  } catch (error) {
    panel.textContent = error.message;
  }
}

async function showEvaluation() {
  byId("evaluation").replaceChildren(...evaluationParts(await getJson("/v1/evaluation")));
}

async function showImportance() {
  byId("importance").replaceChildren(
    await getJson("/v1/importance")
      .then((answer) => (status.offers ? importanceBySide(answer.features) : importanceList(answer.variables)))
      .catch(orNothing),
  );
}

async function showTree() {
  byId("number").textContent = `tree ${treeNumber}`;
  byId("before").disabled = treeNumber === 0;
  const picture = make("img", { alt: `Tree ${treeNumber}: its tests and what its leaves have found` });
  try {
    picture.src = URL.createObjectURL(await getBlob(`/v1/tree/${treeNumber}.svg`));
    picture.addEventListener("load", () => URL.revokeObjectURL(picture.src));
    byId("tree").replaceChildren(picture);
    byId("after").disabled = false;
  } catch (error) {
    byId("tree").replaceChildren(orNothing(error));
    byId("after").disabled = true;
  }
}

// While bins are learned there is no forest, and after the last tree there is no tree.
function orNothing(error) {
  if (error instanceof Absent) return nothing(error.message);
  throw error;
}

function askForKey(reason) {
  connection("lost", "locked", reason);
  byId("door-reason").textContent = hasKey() ? reason : "This page shows what only administrators of the service may see.";
  forgetKey();
  byId("key").value = "";
  if (!byId("door").open) byId("door").showModal();
}

byId("door").addEventListener("cancel", (event) => event.preventDefault());
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepKey(byId("key").value.trim());
  byId("door").close();
  asked = 0;
  refresh();
});
byId("forget").addEventListener("click", () => {
  forgetKey();
  location.reload();
});
for (const [id, step] of [["before", -1], ["after", 1]]) {
  byId(id).addEventListener("click", () => {
    treeNumber = Math.max(0, treeNumber + step);
    showTree().catch((error) => connection("lost", "no answer", error.message));
  });
}
new ResizeObserver(drawCharts).observe(byId("rewards"));
refresh();

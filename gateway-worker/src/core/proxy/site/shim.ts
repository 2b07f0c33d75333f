/**
 * The script that puts a page's prefix before the root-relative URLs that its scripts make (7-sites §2, L4). It is ASCII, ends no
 * `<script>`, and leaves alone what has the prefix, other sites, and other hosts. `location` can't be patched: where a browser
 * tells of a navigation before it begins, that one is sent on its way. A script element's `src` attribute is read as its author
 * wrote it: module loaders know their files by it.
 */
export function shimSource(prefix: string): string {
  return SHIM.replace("PREFIX", () => JSON.stringify(prefix).replaceAll("<", "\\u003c"));
}

const SHIM = String.raw`(function(p){
var w=window,d=document,o=location.origin,s=p.slice(0,p.lastIndexOf("/")+1);
if(w.agentEnvPrefix)return;
Object.defineProperty(w,"agentEnvPrefix",{value:p});
function under(u){return u===p||u.indexOf(p+"/")===0||u.indexOf(p+"?")===0||u.indexOf(p+"#")===0}
function path(u){return under(u)?u:p+u}
function place(u){
if(u instanceof URL){var h=place(u.href);return h===u.href?u:h}
if(typeof u!=="string")return u;
var t=u.trim();
if(/^\/(?![\/\\])/.test(t))return path(t);
var m=/^(?:(https?|wss?):)?\/\/([^\/?#]+)(.*)$/i.exec(t);
if(!m||m[2].toLowerCase()!==location.host||(m[3]+"/").indexOf(s)===0)return u;
return t.slice(0,t.length-m[3].length)+path(m[3].charAt(0)==="/"?m[3]:"/"+m[3]);
}
function srcset(v){return typeof v!=="string"?v:v.replace(/(^\s*|,\s+)(\/(?!\/)[^\s,]*)/g,function(a,b,u){return b+place(u)})}
function wrap(t,n,f){if(t&&typeof t[n]==="function"){var b=t[n];t[n]=function(){return b.apply(this,f(Array.prototype.slice.call(arguments),this))}}}
function first(a){if(a.length)a[0]=place(a[0]);return a}
function made(n){var C=w[n];if(typeof C==="function")w[n]=new Proxy(C,{construct:function(T,a,N){return Reflect.construct(T,first(a),N===w[n]?T:N)}})}
["Request","WebSocket","EventSource","Worker","SharedWorker"].forEach(made);
wrap(w,"fetch",first);
wrap(w,"open",first);
wrap(XMLHttpRequest.prototype,"open",function(a){a[1]=place(a[1]);return a});
wrap(Navigator.prototype,"sendBeacon",first);
["pushState","replaceState"].forEach(function(n){wrap(History.prototype,n,function(a){if(a.length>2&&a[2]!=null)a[2]=place(a[2]);return a})});
if(w.ServiceWorkerContainer)wrap(ServiceWorkerContainer.prototype,"register",function(a){
first(a);if(a[1]&&a[1].scope!=null)a[1]=Object.assign({},a[1],{scope:place(a[1].scope)});return a});
var names={href:1,src:1,action:1,formaction:1,poster:1,data:1,srcset:2,imagesrcset:2,"xlink:href":1};
function value(e,n,v){return n==="data"&&e.localName!=="object"?v:names[n]===2?srcset(v):place(v)}
wrap(Element.prototype,"setAttribute",function(a,e){var n=String(a[0]).toLowerCase();if(names[n]&&a.length>1)a[1]=value(e,n,a[1]);return a});
wrap(Element.prototype,"setAttributeNS",function(a,e){var n=String(a[1]).toLowerCase();if(names[n]&&a.length>2)a[2]=value(e,n,a[2]);return a});
[["Anchor","href"],["Area","href"],["Link","href"],["Base","href"],["Image","src"],["Image","srcset"],["Script","src"],["IFrame","src"],["Frame","src"],
["Media","src"],["Source","src"],["Source","srcset"],["Track","src"],["Embed","src"],["Input","src"],["Video","poster"],["Object","data"],
["Form","action"],["Input","formAction"],["Button","formAction"]].forEach(function(k){
var C=w["HTML"+k[0]+"Element"],q=C&&Object.getOwnPropertyDescriptor(C.prototype,k[1]);
if(!q||!q.set)return;
Object.defineProperty(C.prototype,k[1],{configurable:true,enumerable:q.enumerable,get:q.get,set:function(v){q.set.call(this,value(this,k[1].toLowerCase(),v))}});
});
var get=Element.prototype.getAttribute;
HTMLScriptElement.prototype.getAttribute=function(n){var v=get.apply(this,arguments);
return typeof v==="string"&&String(n).toLowerCase()==="src"&&v.indexOf(p+"/")===0?v.slice(p.length):v};
function mend(e){for(var n in names)if(e.hasAttribute(n)){var v=get.call(e,n),f=value(e,n,v);if(f!==v)e.setAttribute(n,f)}}
var all=Object.keys(names).map(function(n){return"["+n.replace(":","\\:")+"]"}).join(",");
new MutationObserver(function(l){l.forEach(function(r){r.addedNodes.forEach(function(e){
if(e.nodeType===1){mend(e);e.querySelectorAll(all).forEach(mend)}})})}).observe(d,{childList:true,subtree:true});
d.addEventListener("submit",function(e){mend(e.target);if(e.submitter)mend(e.submitter)},true);
wrap(HTMLFormElement.prototype,"submit",function(a,e){mend(e);return a});
var c=Object.getOwnPropertyDescriptor(Document.prototype,"cookie");
if(c)Object.defineProperty(d,"cookie",{configurable:true,get:function(){
return c.get.call(d).split("; ").filter(function(k){return!/^__(host|secure)-/i.test(k)}).map(function(k){return k.replace(/^agentenv-(?=__(host|secure)-)/i,"")}).join("; ")},
set:function(v){
v=String(v).split(";").filter(function(k,i){return!i||!/^\s*domain\s*(=|$)/i.test(k)}).map(function(k,i){
if(!i)return/^\s*__(host|secure)-/i.test(k)?"agentenv-"+k.trim():k;
var m=/^\s*path\s*=\s*(\/.*?)\s*$/i.exec(k);return m?" path="+path(m[1]):k}).join(";");
c.set.call(d,v)}});
if(w.navigation)navigation.addEventListener("navigate",function(e){
var u=e.destination.url,v=place(u);
if(v===u||!e.cancelable||e.formData||e.downloadRequest!=null)return;
e.preventDefault();setTimeout(function(){if(e.navigationType==="replace")location.replace(v);else location.assign(v)})});
})(PREFIX);`;
